import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ConcurrencyLimit } from '../../src/http/concurrency-limit.ts'
import type { Posts } from '../../src/posts/posts.ts'
import { useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { gate } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const authors = Array.from({ length: 16 }, (_, n) => handle(`author${n}`))
const readers = ['ann', 'ben', 'cat'].map(handle)
const query = `mutation ($input: CreatePostInput!) {
  createPost(input: $input) { clientMutationId post { id text } }
}`
/** The commands of the transaction of one post. */
const published = [
  ...['commitTransaction', 'findAndModify user_stats', 'insert idempotency_keys'],
  'insert posts',
]

function usePublishers(strategy: 'FANOUT_ON_READ' | 'INBOX') {
  const app = useApp({ FEED_STRATEGY: strategy })
  let times = 0
  const send = (as: string, key: object = { clientMutationId: `${times}` }) =>
    app.send({ as, query, variables: { input: { text: 'hello', ...key } } })

  /** Sends mutations. @returns what they sent to the database. */
  async function commandsOf(work: () => Promise<readonly { readonly errors: object }[]>) {
    times++
    const { result, commands } = await recorded(app.database.client, work)
    for (const { errors } of result) expect(errors).toEqual([])
    expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
    expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
    return labelsOf(commands)
  }

  beforeAll(async () => {
    await openAccounts(app.services, [...authors, ...readers])
    for (const author of authors)
      for (const reader of readers) await app.services.follows.follow(reader, author)
    await app.rest()
    // Reads the accounts.
    for (const author of authors) await send(author, { clientMutationId: 'first' })
  })
  return { app, send, commandsOf }
}

/** Lets requests to publish go on when as many have come. */
function together({ posts }: { readonly posts: Posts }, count: number) {
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
afterEach(() => {
  vi.restoreAllMocks()
})

describe('while no strategy stores timelines', () => {
  const { app, send, commandsOf } = usePublishers('FANOUT_ON_READ')

  test('a post with a clientMutationId takes four commands, and has no job', async () => {
    const labels = await commandsOf(async () => [await send('author0')])
    noteFact(`createPost under FANOUT_ON_READ: ${labels.length} commands: ${labels.join(', ')}`)
    expect(labels).toEqual(published)
    expect(await app.services.collections.outbox.countDocuments()).toBe(0)
  })

  test('a post without a clientMutationId takes a command less', async () => {
    const labels = await commandsOf(async () => [await send('author0', {})])
    expect(labels).toEqual(published.filter((label) => label !== 'insert idempotency_keys'))
  })

  test('posts of sixteen authors that arrive together take four commands, and have no job', async () => {
    together(app.services, 16)
    const labels = await commandsOf(() => Promise.all(authors.map((author) => send(author))))
    const counted = published.filter((label) => label !== 'findAndModify user_stats')
    expect(labels).toEqual([...counted, 'update user_stats'].sort())
    expect(await app.services.collections.outbox.countDocuments()).toBe(0)
  })

  test('a repeat is answered with the first post, and stores none', async () => {
    const { posts } = app.services.collections
    const first = await send('author0', { clientMutationId: 'again' })
    const before = await posts.countDocuments()
    const repeat = await send('author0', { clientMutationId: 'again' })
    expect(repeat).toMatchObject({ errors: [], data: first.data })
    const other = await app.send({
      as: 'author0',
      query,
      variables: { input: { text: 'other', clientMutationId: 'again' } },
    })
    expect(other.errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }])
    expect(await posts.countDocuments()).toBe(before)
  })
})

describe('under INBOX', () => {
  const { app, send, commandsOf } = usePublishers('INBOX')
  const facts = 'read strategies, posts, followers'
  const delivered = ['read posts', 'insert inbox', 'delete outbox']

  test('a post takes five commands, and four for the job that delivers it', async () => {
    const labels = await commandsOf(async () => [await send('author0')])
    noteFact(`createPost under INBOX: ${labels.length} commands: ${labels.join(', ')}`)
    expect(labels).toEqual([...published, 'update outbox', facts, ...delivered].sort())
    expect(await app.services.collections.outbox.countDocuments()).toBe(0)
  })

  test('posts of sixteen authors that arrive together share a transaction, and their deliveries commands', async () => {
    together(app.services, 16)
    const labels = await commandsOf(() => Promise.all(authors.map((author) => send(author))))
    noteFact(`createPost of 16 authors under INBOX: ${labels.length} commands`)
    expect(labels.filter((label) => label === 'commitTransaction')).toHaveLength(1)
    expect(labels.filter((label) => label === 'insert inbox').length).toBeLessThan(4)
    const { inbox, outbox } = app.services.collections
    const entries = await inbox.countDocuments({ '_id.reader': { $in: [...readers] } })
    expect(entries).toBe(3 * (16 + 1 + 16))
    expect(await outbox.countDocuments()).toBe(0)
  })
})
