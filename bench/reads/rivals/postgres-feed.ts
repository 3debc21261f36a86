import { Pool } from 'pg'
import { IdMint, type PostId, timeOf } from '../../../src/lib/ids.ts'
import type { PagePost } from '../side.ts'

/** The tables of the feed. The number of likes is in the post, as Feedline has it. */
export const postgresTables = `
  create table users (
    handle text primary key, name text not null, avatar text not null, deleted boolean not null,
    posts int not null default 0, followers int not null default 0, following int not null default 0
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

/** No block between the user $1 and the user of the row `u`, in either direction. */
const isUnblocked = `
  not exists (select from blocks b where b.owner = $1 and b.other = u.handle)
  and not exists (select from blocks b where b.owner = u.handle and b.other = $1)`

/** The posts in the timeline of the user $1, with the checks that Feedline has on each read. */
const shownPosts = `
  from timeline t join posts p on p.id = t.post join users u on u.handle = p.author
  where t.reader = $1 and not u.deleted and (u.handle = $1 or (
    exists (select from follows f where f.follower = $1 and f.followee = u.handle)
    and not exists (select from mutes m where m.owner = $1 and m.other = u.handle)
    and ${isUnblocked}))`

const timelineStatement = {
  name: 'timeline',
  text: `
    select p.id, p.text, p.created_at, u.handle, u.name, u.avatar, p.likes,
      exists (select from likes l where l.who = $1 and l.post = p.id) as liked
    ${shownPosts} order by t.post desc limit $2`,
}

const newsStatement = {
  name: 'news',
  text: `select p.id, u.handle, u.name ${shownPosts} and t.post > $2 order by t.post desc limit $3`,
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

const likeStatement = {
  name: 'like',
  text: `
    with allowed as (
      select p.id from posts p join users u on u.handle = p.author join users v on v.handle = $1
      where p.id = $2 and not u.deleted and not v.deleted and ${isUnblocked}
    ), added as (
      insert into likes (who, post) select $1, id from allowed on conflict do nothing returning post
    ), counted as (
      update posts set likes = likes + 1 from added where id = added.post
    )
    select exists (select from added) as changed from allowed`,
}

/** A follower sees the earlier posts of the followee, so they join the timeline. */
const followStatement = {
  name: 'follow',
  text: `
    with allowed as (
      select u.handle from users u join users v on v.handle = $1
      where u.handle = $2 and not u.deleted and not v.deleted and ${isUnblocked}
    ), added as (
      insert into follows (follower, followee) select $1, handle from allowed
      on conflict do nothing returning follower, followee
    ), counted as (
      update users set followers = followers + (handle = followee)::int,
        following = following + (handle = follower)::int
      from added where handle in (follower, followee)
    ), entries as (
      insert into timeline (reader, post, author)
      select follower, id, author from added join posts on author = followee
      on conflict do nothing
    )
    select exists (select from added) as changed from allowed`,
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
/** The most new posts that a poll counts, as in Feedline. */
const newsMax = 100

/**
 * The obvious feed on PostgreSQL: one statement a page, a poll, a post, a like and a follow. Each
 * commits by itself.
 */
export class PostgresFeed {
  private readonly mint = new IdMint(Date.now)

  private constructor(private readonly pool: Pool) {}

  /** @param port of a server with {@link postgresTables}, on this machine. */
  static open(port: number): PostgresFeed {
    return new PostgresFeed(new Pool({ ...postgresAddress(port), max: connectionsMax }))
  }

  /** The newest posts of a reader's timeline. */
  async readTimeline(reader: string, limit: number) {
    const values = [reader, limit + oneMore]
    const { rows } = await this.pool.query<Row>({ ...timelineStatement, values })
    return { posts: rows.slice(0, limit).map(toPost), hasNextPage: rows.length > limit }
  }

  /** What a reader's timeline has got since a post. */
  async readNews(reader: string, since: string) {
    const values = [reader, since, newsMax + oneMore]
    const { rows } = await this.pool.query<Row>({ ...newsStatement, values })
    const names = new Map(rows.map(({ handle, name }) => [handle, name]))
    return {
      count: Math.min(rows.length, newsMax),
      hasMore: rows.length > newsMax,
      authors: [...names].map(([handle, name]) => ({ id: handle, handle, name })),
      pollCursor: rows[0]?.id ?? since,
    }
  }

  /** Creates a post in the timelines of the author and of all followers. @returns its id. */
  async createPost(author: string, text: string): Promise<string> {
    const id = this.mint.next<PostId>()
    const values = [author, id, text, timeOf(id)]
    const { rows } = await this.pool.query({ ...createStatement, values })
    if (rows.length === 0) throw new Error(`${author} has no account`)
    return id
  }

  /** @returns whether it is a new like. @throws without such a post, or when a block hides it. */
  likePost(user: string, post: string): Promise<boolean> {
    return this.change({ ...likeStatement, values: [user, post] })
  }

  /** @returns whether it is a new follow. @throws without such an account, or after a block. */
  followUser(follower: string, followee: string): Promise<boolean> {
    return this.change({ ...followStatement, values: [follower, followee] })
  }

  async close(): Promise<void> {
    await this.pool.end()
  }

  private async change(statement: typeof likeStatement & { values: string[] }): Promise<boolean> {
    const { rows } = await this.pool.query<{ changed: boolean }>(statement)
    const [row] = rows
    if (!row) throw new Error(`${statement.name} is not allowed: ${statement.values.join()}`)
    return row.changed
  }
}

/** How the server of the benchmark is reached. */
export const postgresAddress = (port: number) => ({
  ...{ host: '127.0.0.1', port, user: 'feedline', database: 'postgres' },
})

const toPost = (row: Row): PagePost => ({
  ...{ id: row.id, text: row.text, createdAt: row.created_at.toISOString() },
  author: { handle: row.handle, name: row.name, avatarUrl: row.avatar },
  ...{ likeCount: row.likes, viewerHasLiked: row.liked },
})
