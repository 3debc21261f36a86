import { Client } from 'pg'
import type { Collections } from '../../../src/db/collections.ts'
import { chunks } from '../../../src/lib/batch.ts'
import { type PostId, timeOf } from '../../../src/lib/ids.ts'
import type { Graph } from '../../feeds/graph.ts'
import { avatarOf } from '../data.ts'
import { postgresAddress, postgresTables } from './postgres-feed.ts'

type Row = readonly (string | number | boolean | Date)[]

const rowsPerStatement = 20_000

const countStatement = `
  update users set
    followers = (select count(*) from follows where followee = handle),
    following = (select count(*) from follows where follower = handle)`

/**
 * Stores the contents of Feedline's collections in PostgreSQL. The timelines hold the posts that
 * were delivered by `graph`, the follows at that time.
 */
export async function fillPostgres(
  port: number,
  { users, following, restrictions, posts, engagements_by_user }: Collections,
  graph: Graph,
): Promise<void> {
  const client = new Client(postgresAddress(port))
  await client.connect()
  try {
    const insert = async (table: string, types: readonly string[], rows: readonly Row[]) => {
      const columns = types.map((type, at) => `$${at + 1}::${type}[]`).join()
      for (const batch of chunks(rows, rowsPerStatement))
        await client.query(
          `insert into ${table} select * from unnest(${columns}) on conflict do nothing`,
          types.map((_, at) => batch.map((row) => row[at])),
        )
    }
    await client.query(postgresTables)
    const accounts = await users.find().toArray()
    await insert(
      ...(['users', ['text', 'text', 'text', 'boolean', 'int', 'int', 'int']] as const),
      accounts.map(({ _id, name = _id, avatarUrl, deletedAt }) => [
        ...[_id, name, avatarUrl ?? avatarOf(_id), deletedAt !== undefined, 0, 0, 0],
      ]),
    )
    const follows = await following.find().toArray()
    await insert(
      ...(['follows', ['text', 'text']] as const),
      follows.map(({ user, followee }) => [user, followee]),
    )
    await client.query(countStatement)
    const restricted = await restrictions.find().toArray()
    for (const [table, kind] of [
      ['mutes', 'MUTE'],
      ['blocks', 'BLOCK'],
    ] as const)
      await insert(
        ...([table, ['text', 'text']] as const),
        restricted.filter((one) => one.kind === kind).map(({ owner, other }) => [owner, other]),
      )
    const all = (await posts.find().sort({ _id: 1 }).toArray()).map((post) => ({
      ...post,
      id: post._id.toHexString() as PostId,
    }))
    await insert(
      ...(['posts', ['text', 'text', 'text', 'timestamptz', 'int']] as const),
      all.map(({ id, author, text, counts }) => [
        ...[id, author, text, timeOf(id), counts?.likes ?? 0],
      ]),
    )
    await insert(
      ...(['timeline', ['text', 'text', 'text']] as const),
      all.flatMap(({ id, author }) =>
        [author, ...(graph.followers.get(author as never) ?? [])].map((reader) => [
          ...[reader, id, author],
        ]),
      ),
    )
    const likes = await engagements_by_user.find({ kind: 'likes' }).toArray()
    await insert(
      ...(['likes', ['text', 'text']] as const),
      likes.map(({ user, post }) => [user, post.toHexString()]),
    )
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}
