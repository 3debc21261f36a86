import { setTimeout as sleep } from 'node:timers/promises'
import { HomeTimelineDocument, PublishPostDocument } from '@feedline/client'
import { MongoClient } from 'mongodb'
import type { Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../examples/node/src/ask.ts'
import { type Letter, Outbox } from '../../examples/node/src/outbox.ts'
import { feedline } from '../support/process.ts'
import { type ReplicaSet, replicaSet } from '../support/replica-set.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useBrowsers, type Viewer } from './example.ts'

const pausedMs = 12_000
/** What a request may take beside the pause, in milliseconds. */
const patienceMs = 60_000
const failures = [
  ['the database is paused for 12 s', 'all'],
  ['the primary is paused for 12 s, and another member takes over', 'primary'],
] as const

let set: ReplicaSet
let client: MongoClient
const server = { url: '' }
let users = 0

beforeAll(async () => {
  set = await replicaSet({ takeover: 'temporary' })
  client = await MongoClient.connect(set.uri)
  const process = feedline(['serve'], { MONGODB_URI: set.uri, PORT: '0' })
  const [, url = ''] = await process.says(/GraphQL: (http:\S+)\/graphql/)
  server.url = url
})
afterEach(() => set.settle())
afterAll(async () => {
  await client?.close()
  await set?.[Symbol.asyncDispose]()
})

async function createUser(): Promise<string> {
  users++
  const handle = `user${users}`
  const query = 'mutation { createUser(input: { name: "User" }) { viewer { id } } }'
  const answer = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Dev ${handle}` },
    body: JSON.stringify({ query }),
  })
  expect(await answer.json()).not.toHaveProperty('errors')
  return handle
}

/** The texts of the posts of a user in the database. */
const storedPosts = async (handle: string) => {
  const db = client.db('feedline')
  const user = await db.collection('users').findOne({ handle })
  const posts = db.collection('posts').find({ author: user?._id }).sort({ _id: 1 })
  return (await posts.toArray()).map(({ text }) => text)
}

/** Runs `work` while members are paused, which go on after 12 s. */
async function pausing<T>(members: 'all' | 'primary', work: () => Promise<T>): Promise<T> {
  const resume = await set.pause(members)
  try {
    const result = work()
    result.catch(() => undefined)
    await sleep(pausedMs)
    resume()
    return await result
  } finally {
    resume()
  }
}

/** Waits for what the user should see, and fails at an error. */
async function appears({ alert }: Viewer, expected: Locator): Promise<void> {
  await expected
    .or(alert)
    .first()
    .waitFor({ timeout: pausedMs + patienceMs })
  expect(await alert.allTextContents()).toEqual([])
}

/** Counts the alerts that the page shows from now on, also those that disappear. */
async function countAlerts({ page }: Viewer): Promise<() => Promise<number>> {
  await page.evaluate(`
    window.alertCount = 0
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) {
        for (const node of addedNodes) {
          if (node.matches?.('[role=alert]') || node.querySelector?.('[role=alert]')) window.alertCount++
        }
      }
    }).observe(document.body, { subtree: true, childList: true })
  `)
  return () => page.evaluate('window.alertCount')
}

describe('without a browser', () => {
  const serverOf = (handle: string) => ({
    url: `${server.url}/graphql`,
    authorization: `Dev ${handle}`,
  })

  test.each(failures)(
    '%s: a post and a timeline that are asked for then take effect once',
    {
      timeout: 3 * patienceMs,
    },
    async (_, members) => {
      const [writer, reader] = [await createUser(), await createUser()]
      const input = { text: 'once', clientMutationId: 'once' }
      const [written, read] = await pausing(members, () =>
        Promise.all([
          ask(serverOf(writer), PublishPostDocument, { input }),
          ask(serverOf(reader), HomeTimelineDocument, {}),
        ]),
      )
      expect(written.createPost?.timelineEdge?.node?.text).toBe('once')
      expect(read.timeline?.edges).toEqual([])
      expect(await storedPosts(writer)).toEqual(['once'])
    },
  )

  test('the database is paused for 12 s: an outbox that is flushed then is sent once', {
    timeout: 3 * patienceMs,
  }, async () => {
    const handle = await createUser()
    const texts = new Map<string, string>()
    const storage = {
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, text: string) => texts.set(key, text),
    }
    const outbox = new Outbox(storage, handle)
    for (const text of ['first', 'second']) await outbox.add('post', { text })
    const send = ({ input }: Letter) =>
      ask(serverOf(handle), PublishPostDocument, { input } as never)
    await pausing('all', () => outbox.flush(send, expect.fail))
    expect(await outbox.letters()).toEqual([])
    expect(await storedPosts(handle)).toEqual(['first', 'second'])
  })
})

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const open = useBrowsers(name, server)

  test.each(failures)(
    '%s: a post that is sent then appears once, and no error',
    {
      timeout: 3 * patienceMs,
    },
    async (_, members) => {
      const handle = await createUser()
      const viewer = await open(handle, { polls: false })
      const { page, shows } = viewer
      await page.getByText('No posts yet').waitFor()
      const alertCount = await countAlerts(viewer)
      await page.getByRole('textbox', { name: 'What is new?' }).fill('once')
      await pausing(members, async () => {
        await page.getByRole('button', { name: 'Post', exact: true }).click()
        await appears(viewer, page.getByTestId('post'))
      })
      expect(await alertCount()).toBe(0)
      await shows(['once'])
      expect(await storedPosts(handle)).toEqual(['once'])
      await page.reload()
      await shows(['once'])
    },
  )

  test('the database is paused for 12 s: a page that is opened then appears, and no error', {
    timeout: 3 * patienceMs,
  }, async () => {
    const handle = await createUser()
    const viewer = await open(handle, { polls: false })
    const { page } = viewer
    await page.getByText('No posts yet').waitFor()
    const alertCount = await countAlerts(viewer)
    await pausing('all', async () => {
      await page.getByRole('link', { name: 'Profile' }).click()
      await appears(viewer, page.getByRole('heading', { level: 1, name: 'User' }))
    })
    expect(await alertCount()).toBe(0)
  })

  test.each([
    ['UNAVAILABLE', 503, 12],
    ['RATE_LIMITED', 429, 4],
  ])(
    '%s: a post that the server refuses at once, with status %d and for %d s, appears once, and no error',
    {
      timeout: 3 * patienceMs,
    },
    async (code, status, seconds) => {
      const handle = await createUser()
      const viewer = await open(handle, { polls: false })
      const { page, shows } = viewer
      await page.getByText('No posts yet').waitFor()
      const alertCount = await countAlerts(viewer)
      const bodies: (string | null)[] = []
      const endAt = Date.now() + seconds * 1_000
      // A server that is asked to wait says for how long. An overloaded one hopes for the next
      // second.
      const retryAfterSeconds = code === 'RATE_LIMITED' ? seconds : 1
      await page.route('**/graphql', async (route) => {
        const body = route.request().postData()
        if (!body?.includes('createPost(')) return route.fallback()
        bodies.push(body)
        if (Date.now() > endAt) return route.fallback()
        const errors = [{ message: 'Refused', extensions: { code, retryAfterSeconds } }]
        await route.fulfill({
          status,
          contentType: 'application/graphql-response+json',
          headers: { 'access-control-allow-origin': '*' },
          body: JSON.stringify({ errors }),
        })
      })
      await page.getByRole('textbox', { name: 'What is new?' }).fill('once')
      await page.getByRole('button', { name: 'Post', exact: true }).click()
      await appears(viewer, page.getByTestId('post'))
      expect(await alertCount()).toBe(0)
      await shows(['once'])
      expect(await storedPosts(handle)).toEqual(['once'])
      expect(new Set(bodies).size).toBe(1)
      if (code === 'RATE_LIMITED') expect(bodies).toHaveLength(2)
    },
  )
})
