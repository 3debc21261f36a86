import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importGraph } from '../../packages/import/import-graph.ts'
import { type App, startApp } from '../../src/app.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { readConfig } from '../../src/environment.ts'
import { groupBy } from '../../src/lib/batch.ts'
import { type PostId, timeIdAt } from '../../src/lib/ids.ts'
import { readAccountNames } from '../support/account-names.ts'
import { noteFact } from '../support/facts.ts'
import { useDatabase } from '../support/mongo.ts'

/** FEEDLINE_GRAPH names an edge list. Default: 300 synthetic users with 20 friendships each. */
const given = process.env.FEEDLINE_GRAPH
const postsPerUser = 20

const database = useDatabase()
let folder: string
let app: App
let file: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-graph-'))
  file = given ?? join(folder, 'friends.edges')
  if (!given) await writeFile(file, madeUpFriendships(300, 3000))
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: database.name,
  })
  app = await startApp(config, pino({ level: 'silent' }))
})

afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

test('timelines over HTTP agree with the imported edge list', async () => {
  const friends = friendsIn(await readFile(file, 'utf8'))
  const edges = [...friends.values()].reduce((sum, some) => sum + some.size, 0)
  const graph = await importGraph(app.services, { file, mutual: true })
  await storePosts([...friends.keys()])
  expect(graph.total).toMatchObject({ users: friends.size, edges, unknown: 0 })

  const { handleOf } = await readAccountNames(database.collections)
  const docs = await database.collections.posts.find().sort({ _id: -1 }).toArray()
  const all = docs.map(({ text, author }) => ({ text, author: handleOf(author) }))
  expect(all).toHaveLength(friends.size * postsPerUser)
  const everyone = [...friends.keys()].sort()
  const readers = everyone.filter((_, at) => at % Math.ceil(everyone.length / 20) === 0)
  for (const reader of readers) {
    const seen = new Set([reader, ...(friends.get(reader) ?? [])])
    const expected = all
      .filter(({ author }) => seen.has(author))
      .map(({ text, author }) => [author, text])
    expect(await walk(reader, 250)).toEqual(expected.slice(0, 250))
    expect(await counts(reader)).toMatchObject({
      followerCount: friends.get(reader)?.size,
      followingCount: friends.get(reader)?.size,
      postCount: all.filter(({ author }) => author === reader).length,
    })
  }
  noteFact(
    `${friends.size} users, ${edges} edges, ${all.length} posts: ${readers.length} timelines agree`,
  )
})

/**
 * Stores posts, one a minute until now. Some authors have far more than others, and some have none.
 */
async function storePosts(authors: readonly string[]): Promise<void> {
  const total = authors.length * postsPerUser
  const startMs = Date.now() - total * 60_000
  const { idOf } = await readAccountNames(database.collections)
  const docs = Array.from({ length: total }, (_, n) => ({
    _id: toObjectId(timeIdAt<PostId>(startMs + n * 60_000, n.toString(16).padStart(12, '0'))),
    author: idOf(authors[(n * n) % authors.length] as string),
    text: `post ${n}`,
  }))
  const { posts, user_stats } = database.collections
  await posts.insertMany(docs)
  await user_stats.bulkWrite(
    [...groupBy(docs, ({ author }) => author)].map(([_id, own]) => ({
      updateOne: { filter: { _id }, update: { $inc: { posts: own.length } } },
    })),
  )
}

/** The first `count` posts of a reader's timeline, in pages of 100. */
async function walk(reader: string, count: number): Promise<string[][]> {
  const posts: string[][] = []
  for (let after: string | null = null; posts.length < count; ) {
    const { timeline } = await query(
      reader,
      `query ($after: String) { timeline(first: 100, after: $after) {
        edges { node { text author { handle } } } pageInfo { hasNextPage endCursor } } }`,
      { after },
    )
    for (const { node } of timeline.edges) posts.push([node.author.handle, node.text])
    if (!timeline.pageInfo.hasNextPage) break
    after = timeline.pageInfo.endCursor
  }
  return posts.slice(0, count)
}

const counts = async (handle: string) =>
  (
    await query(
      handle,
      'query ($handle: String!) { user(handle: $handle) { followerCount followingCount postCount } }',
      { handle },
    )
  ).user

async function query(handle: string, document: string, variables: object) {
  const answer = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Dev ${handle}` },
    body: JSON.stringify({ query: document, variables }),
  })
  const { data, errors } = (await answer.json()) as Answer
  expect(errors).toBeUndefined()
  return data
}

interface Answer {
  readonly data: {
    readonly timeline: {
      readonly edges: {
        readonly node: { readonly text: string; readonly author: { readonly handle: string } }
      }[]
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
    }
    readonly user: object
  }
  readonly errors?: unknown[]
}

/** The friends of each user, parsed from the file as simply as possible. */
function friendsIn(text: string): Map<string, Set<string>> {
  const friends = new Map<string, Set<string>>()
  const add = (one: string, other: string) => {
    friends.set(one, (friends.get(one) ?? new Set()).add(other))
  }
  for (const line of text.trim().split('\n')) {
    const [one = '', other = ''] = line.trim().split(/[\s,]+/)
    if (!/^\d+$/.test(one) || one === other) continue
    add(one, other)
    add(other, one)
  }
  return friends
}

/** A ring, so that each user has a friend, and more friendships from a fixed sequence. */
function madeUpFriendships(people: number, count: number): string {
  const lines = new Set<string>()
  for (let n = 0; n < people; n++) lines.add(`${n} ${(n + 1) % people}`)
  for (let n = 1; lines.size < count; n++) {
    const [one, other] = [(n * n * 7919) % people, (n * 104729 + n * n) % people]
    if (one !== other && !lines.has(`${other} ${one}`)) lines.add(`${one} ${other}`)
  }
  return [...lines].join('\n')
}
