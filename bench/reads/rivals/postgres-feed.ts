import { Pool } from 'pg'
import { IdMint, type PostId, timeOf } from '../../../src/lib/ids.ts'
import type { PagePost } from '../side.ts'
import type { FeedPage, FeedQuery, RivalFeed } from './rival-feed.ts'

/** The tables of the feed. The number of likes is in the post, as Feedline has it. */
export const postgresTables = `
  create table users (
    handle text primary key, name text not null, avatar text not null, posts int not null,
    deleted boolean not null
  );
  create table posts (
    id text primary key, author text not null, text text not null, created_at timestamptz not null,
    likes int not null default 0
  );
  create index on posts (author, id desc);
  create table timeline (reader text, post text, author text not null, primary key (reader, post));
  create table follows (follower text, followee text, primary key (follower, followee));
  create index on follows (followee, follower);
  create table mutes (owner text, other text, primary key (owner, other));
  create table blocks (owner text, other text, primary key (owner, other));
  create table likes (who text, post text, primary key (who, post));
`

/** The selected fields of a post by an author with an account. $1 is the viewer. */
const fields = `
  p.id, p.text, p.created_at, u.handle, u.name, u.avatar, p.likes,
  exists (select from likes l where l.who = $1 and l.post = p.id) as liked`
const isUnblocked = `
  not exists (select from blocks b where b.owner = $1 and b.other = u.handle)
  and not exists (select from blocks b where b.owner = u.handle and b.other = $1)`

const timelineStatement = {
  name: 'timeline',
  text: `select ${fields}
    from timeline t join posts p on p.id = t.post join users u on u.handle = p.author
    where t.reader = $1 and not u.deleted and (u.handle = $1 or (
      exists (select from follows f where f.follower = $1 and f.followee = u.handle)
      and not exists (select from mutes m where m.owner = $1 and m.other = u.handle)
      and ${isUnblocked}))
    order by t.post desc limit $2`,
}

const authorStatement = {
  name: 'author',
  text: `select ${fields} from posts p join users u on u.handle = p.author
    where p.author = $2 and not u.deleted and ${isUnblocked} order by p.id desc limit $3`,
}

const createStatement = {
  name: 'create',
  text: `
    with account as (
      update users set posts = posts + 1 where handle = $1 and not deleted returning handle
    ), post as (
      insert into posts (id, author, text, created_at)
      select $2, handle, $3, $4 from account returning id, author
    ), entries as (
      insert into timeline (reader, post, author)
      select f.follower, post.id, post.author from post join follows f on f.followee = post.author
      union all select author, id, author from post
    )
    select id from post`,
}

interface Row {
  readonly id: string
  readonly text: string
  readonly created_at: Date
  readonly handle: string
  readonly name: string
  readonly avatar: string
  readonly likes: number
  readonly liked: boolean
}

/** Connections of a process. */
const connectionsMax = 16
/** A page and its next entry. */
const oneMore = 1

/** The obvious feed on PostgreSQL: one statement a page, and one statement a post. */
export class PostgresFeed implements RivalFeed {
  private readonly mint = new IdMint(Date.now)

  private constructor(private readonly pool: Pool) {}

  /** @param port of a server with {@link postgresTables}, on this machine. */
  static open(port: number): PostgresFeed {
    return new PostgresFeed(new Pool({ ...postgresAddress(port), max: connectionsMax }))
  }

  /** One statement, with and without counts. */
  async readTimeline(reader: string, { limit, counts }: FeedQuery): Promise<FeedPage> {
    const values = [reader, limit + oneMore]
    const { rows } = await this.pool.query<Row>({ ...timelineStatement, values })
    return toPage(rows, limit, counts)
  }

  async readAuthorPosts(reader: string, author: string, limit: number): Promise<FeedPage> {
    const values = [reader, author, limit + oneMore]
    const { rows } = await this.pool.query<Row>({ ...authorStatement, values })
    return toPage(rows, limit, true)
  }

  /** One statement, which commits by itself. */
  async createPost(author: string, text: string): Promise<string> {
    const id = this.mint.next<PostId>()
    const values = [author, id, text, timeOf(id)]
    const { rows } = await this.pool.query({ ...createStatement, values })
    if (rows.length === 0) throw new Error(`${author} has no account`)
    return id
  }

  async close(): Promise<void> {
    await this.pool.end()
  }
}

/** How the server of the benchmark is reached. */
export const postgresAddress = (port: number) => ({
  ...{ host: '127.0.0.1', port, user: 'feedline', database: 'postgres' },
})

function toPage(rows: readonly Row[], limit: number, counts: boolean): FeedPage {
  const posts = rows.slice(0, limit).map((row): PagePost => {
    const { id, text, handle, name, avatar: avatarUrl, likes: likeCount, liked } = row
    const createdAt = row.created_at.toISOString()
    if (!counts) return { id, text, createdAt, author: { handle } }
    const author = { handle, name, avatarUrl }
    return { id, text, createdAt, author, likeCount, viewerHasLiked: liked }
  })
  return { posts, hasNextPage: rows.length > limit }
}
