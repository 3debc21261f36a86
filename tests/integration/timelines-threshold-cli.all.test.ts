import { beforeAll, describe, expect, test } from 'vitest'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { runCommand } from '../support/command-line.ts'
import { sameLimits } from '../support/engagement.ts'
import {
  handle,
  openAccounts,
  type ServicesHarness,
  servicesOver,
  useServices,
} from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const feed = { strategy: 'HYBRID', maintained: ['HYBRID'], hybridThreshold: 1_000 } as const

const run = ({ database }: ServicesHarness, ...args: string[]) =>
  runCommand(['timelines', ...args], {
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: database.name,
  })

const registrationIn = ({ services }: ServicesHarness) =>
  services.collections.strategies.findOne({ _id: 'HYBRID' })

describe('timelines threshold', () => {
  const harness = useServices('collection', engagement, feed)
  const author = handle('author')
  const fans = Array.from({ length: 6 }, (_, n) => handle(`fan${n}`))
  const posts: PostId[] = []
  /** Another process, which is configured with another threshold and has read the first registration. */
  let other: Services

  beforeAll(async () => {
    const { services, database, clock } = harness
    other = servicesOver(database, clock, engagement, 'collection', {
      ...feed,
      hybridThreshold: 500,
    })
    await openAccounts(services, [author, ...fans])
    for (const fan of fans) await services.follows.follow(fan, author)
    await harness.rest()
    await publish(other)
  })

  async function publish(by: Services): Promise<void> {
    posts.unshift((await by.posts.create(author, { text: 'x' })).id)
    await harness.rest()
  }

  async function page(reader: UserId, by: Services): Promise<PostId[]> {
    const window = { limit: 20, backward: false }
    const { servedBy, items } = await by.feed.timeline(reader, { window, projection: 'ref' })
    expect(servedBy).toBe('HYBRID')
    return items.map(({ post }) => post.id)
  }

  async function expectPages(): Promise<void> {
    for (const by of [harness.services, other]) {
      for (const reader of [author, ...fans]) expect(await page(reader, by)).toEqual(posts)
    }
  }

  /** How many inboxes hold a post. */
  async function inboxesWith(post: PostId | undefined): Promise<number> {
    const entries = await harness.services.collections.inbox.find().toArray()
    return entries.filter(({ _id }) => _id.post.toHexString() === post).length
  }
  const celebrity = () => harness.services.collections.celebrities.findOne({ _id: author })

  test('a lower threshold holds in every process: from the next post on, HYBRID reads the author', async () => {
    expect(await celebrity()).toBeNull()
    expect(await inboxesWith(posts[0])).toBe(7)
    expect(await run(harness, 'threshold', '6')).toEqual({
      stdout: 'HYBRID now reads authors with 6 or more followers.\n',
      stderr: '',
      code: 0,
    })
    const { strategies } = JSON.parse((await run(harness, '--json')).stdout)
    expect(strategies).toMatchObject([{ strategy: 'HYBRID', options: { threshold: 6 } }])
    await publish(other)
    expect(await celebrity()).toEqual({ _id: author, readFrom: expect.anything() })
    expect((await other.registry.lastSeen()).get('HYBRID')?.options).toMatchObject({
      threshold: 6,
    })
    await publish(harness.services)
    await publish(other)
    expect(await Promise.all(posts.map(inboxesWith))).toEqual([0, 0, 7, 7])
    await expectPages()
  })

  test('a higher threshold holds in every process: from the next post on, the author is delivered again', async () => {
    expect((await run(harness, 'threshold', '1000')).code).toBe(0)
    await publish(other)
    expect(await celebrity()).toBeNull()
    expect(await Promise.all(posts.map(inboxesWith))).toEqual([7, 7, 7, 7, 7])
    await expectPages()
  })

  test('a process that starts with another HYBRID_THRESHOLD keeps the threshold, and warns how to change it', async () => {
    const warnings = await registerStrategies(other, feed.maintained)
    expect(warnings).toEqual([expect.stringContaining('feedline timelines threshold')])
    expect(await registrationIn(harness)).toMatchObject({ options: { threshold: 1_000 } })
  })

  test.each(['0', '-1', '+5', '1.5', '1e3', 'many', '', ' 5', '1000000001'])(
    'the threshold "%s" is refused with the name of the argument, and changes nothing',
    async (value) => {
      const before = await registrationIn(harness)
      const { code, stdout, stderr } = await run(harness, 'threshold', value)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain("is invalid for argument 'followers'")
      expect(stderr).toContain('It must be a whole number from 1 to 1000000000.')
      expect(await registrationIn(harness)).toEqual(before)
    },
  )

  test('a missing threshold is named, a further argument is refused, and nothing changes', async () => {
    const before = await registrationIn(harness)
    const none = await run(harness, 'threshold')
    expect(none).toMatchObject({ code: 1, stdout: '' })
    expect(none.stderr).toContain("missing required argument 'followers'")
    const named = await run(harness, 'threshold', '5', 'INBOX')
    expect(named).toMatchObject({ code: 1, stdout: '' })
    expect(named.stderr).toContain("too many arguments for 'threshold'")
    expect(await registrationIn(harness)).toEqual(before)
  })

  test('the threshold of a HYBRID that is being dropped stays unchanged, with an error', async () => {
    const { strategies } = harness.services.collections
    await strategies.updateOne({ _id: 'HYBRID' }, { $set: { dropping: true } })
    const before = await registrationIn(harness)
    const { code, stderr } = await run(harness, 'threshold', '5')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'feedline: HYBRID is not maintained in this database\n',
    })
    expect(await registrationIn(harness)).toEqual(before)
  })
})

describe('timelines threshold without HYBRID', () => {
  const harness = useServices('collection', engagement, { maintained: ['INBOX'] })

  test('without HYBRID, timelines threshold ends with an error and registers nothing', async () => {
    const { strategies } = harness.services.collections
    const before = await strategies.find().toArray()
    const { code, stdout, stderr } = await run(harness, 'threshold', '5')
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'feedline: HYBRID is not maintained in this database\n',
    })
    expect(await strategies.find().toArray()).toEqual(before)
  })
})
