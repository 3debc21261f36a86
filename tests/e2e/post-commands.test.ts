import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { ConcurrencyLimit } from '../../src/http/concurrency-limit.ts'
import type { Posts } from '../../src/posts/posts.ts'
import { useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { gate } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_STRATEGY: 'INBOX' })
const authors = Array.from({ length: 17 }, (_, n) => handle(`author${n}`))
const readers = ['ann', 'ben', 'cat'].map(handle)
let times = 0

const query = `mutation ($input: CreatePostInput!) {
  createPost(input: $input) { clientMutationId post { id text } }
}`
const send = (as: string, key: object = { clientMutationId: `${times}` }) =>
  app.send({ as, query, variables: { input: { text: 'hello', ...key } } })

/** Sends mutations. @returns what they sent to the database. */
async function commandsOf(work: () => Promise<readonly { readonly errors: object }[]>) {
  // On a slow machine, it would be confirmed in the middle.
  await app.services.permit.renew()
  times++
  const { result, commands } = await recorded(app.database.client, work)
  for (const { errors } of result) expect(errors).toEqual([])
  expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
  return labelsOf(commands)
}

/** Lets requests to publish go on when as many have come. */
function together(count: number) {
  const { posts } = app.services
  const create = posts.create.bind(posts) as (...given: unknown[]) => ReturnType<Posts['create']>
  const { open, opened } = gate()
  let come = 0
  // On a busy machine, fewer requests are executed at once.
  vi.spyOn(ConcurrencyLimit.prototype, 'current', 'get').mockReturnValue(100)
  vi.spyOn(posts, 'create').mockImplementation((async (...given: unknown[]) => {
    if (++come === count) open()
    await opened
    return create(...given)
  }) as Posts['create'])
}

beforeAll(async () => {
  await openAccounts(app.services, [...authors, ...readers])
  for (const author of authors)
    for (const reader of readers) await app.services.follows.follow(reader, author)
  await app.rest()
  await app.services.permit.renew()
  // Reads the followers.
  for (const author of authors) await send(author, { clientMutationId: 'first' })
})
afterEach(() => {
  vi.restoreAllMocks()
})

const rest = ['insert idempotency_keys', 'insert inbox', 'insert posts']
const alone = ['commitTransaction', 'findAndModify user_stats', ...rest, 'update versions']

test('a post with a clientMutationId takes five commands, and one for the versions of timelines', async () => {
  const labels = await commandsOf(async () => [await send('author0')])
  noteFact(`createPost under INBOX: ${labels.length} commands: ${labels.join(', ')}`)
  expect(labels).toEqual(alone)
  expect(await app.services.collections.outbox.countDocuments({ kind: 'post.created' })).toBe(0)
})

test('a post without a clientMutationId takes a command less', async () => {
  const labels = await commandsOf(async () => [await send('author0', {})])
  expect(labels).toEqual(alone.filter((label) => label !== 'insert idempotency_keys'))
})

test('posts of sixteen authors that arrive together take five commands, and one for the versions of timelines', async () => {
  together(16)
  const few = authors.slice(0, 16)
  const labels = await commandsOf(() => Promise.all(few.map((author) => send(author))))
  noteFact(`createPost of 16 authors under INBOX: ${labels.length} commands`)
  expect(labels).toEqual(['commitTransaction', ...rest, 'update user_stats', 'update versions'])
  const { inbox, outbox } = app.services.collections
  const entries = await inbox.countDocuments({ '_id.reader': { $in: [...readers] } })
  expect(entries).toBe(3 * (17 + 2 + 16))
  expect(await outbox.countDocuments({ kind: 'post.created' })).toBe(0)
})

test('a follower of one author costs the next shared transaction three commands more', async () => {
  await app.services.follows.follow(authors[16] as never, authors[3] as never)
  await app.rest()
  await app.services.permit.renew()
  together(16)
  const few = authors.slice(0, 16)
  const labels = await commandsOf(() => Promise.all(few.map((author) => send(author))))
  const more = ['read user_stats', 'update user_stats', 'read followers']
  expect(labels).toEqual(
    ['commitTransaction', ...rest, 'update user_stats', 'update versions', ...more].sort(),
  )
  const { inbox } = app.services.collections
  expect(await inbox.countDocuments({ '_id.reader': authors[16] as never })).toBe(3 + 1)
})

test('a repeat is answered with the first post, and stores none', async () => {
  const { posts } = app.services.collections
  const [first] = [await send('author0', { clientMutationId: 'again' })]
  const before = await posts.countDocuments()
  const repeat = await send('author0', { clientMutationId: 'again' })
  expect(repeat).toMatchObject({ errors: [], data: first?.data })
  const other = await app.send({
    as: 'author0',
    query,
    variables: { input: { text: 'other', clientMutationId: 'again' } },
  })
  expect(other.errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }])
  expect(await posts.countDocuments()).toBe(before)
})
