import { readFile } from 'node:fs/promises'
import {
  HomeTimelineDocument,
  PostPageDocument,
  PublishPostDocument,
  TimelineNewsDocument,
} from '@feedline/client'
import { print } from 'graphql'
import { describe, expect, test } from 'vitest'
import { ask } from '../../examples/node/src/ask.ts'
import { createMockClient } from '../../examples/node/src/mocks.ts'
import { type Letter, Outbox } from '../../examples/node/src/outbox.ts'
import { HomePage, renderPage, resumeClient } from '../../examples/node/src/render.tsx'
import { createTaggedFetch } from '../../examples/node/src/tagged.ts'
import { useApp } from '../support/app.ts'
import { handle } from '../support/services.ts'
import { createWorld } from './world.ts'

const app = useApp()
const serverOf = (viewer: string, url = app.url) => ({
  url: `${url}/graphql`,
  authorization: `Dev ${viewer}`,
})
const textsOf = async (viewer: string) => {
  const { timeline } = await ask(serverOf(viewer), HomeTimelineDocument, {})
  return timeline?.edges.map(({ node }) => node?.text)
}

/** Storage that outlives the outboxes on it. */
function openStorage(): {
  getItem: (key: string) => string | null
  setItem: Map<string, string>['set']
} {
  const texts = new Map<string, string>()
  return { getItem: (key) => texts.get(key) ?? null, setItem: (key, text) => texts.set(key, text) }
}

test('an error of the server is thrown with its message and its extensions', async () => {
  const { alice } = await createWorld(app)
  const input = { text: '', clientMutationId: 'empty' }
  await expect(ask(serverOf(alice), PublishPostDocument, { input })).rejects.toMatchObject({
    message: expect.stringContaining('input.text'),
    cause: { code: 'BAD_USER_INPUT' },
  })
})

describe('an outbox', () => {
  const sendAs = (viewer: string, url?: string) => (letter: Letter) =>
    ask(serverOf(viewer, url), PublishPostDocument, letter as never)
  const ignore = () => undefined

  test('keeps mutations while there is no server, and then sends them once and in order, also after a restart of the app', async () => {
    const { alice } = await createWorld(app)
    const storage = openStorage()
    const outbox = new Outbox(storage, alice)
    for (const text of ['first', 'second', 'third']) await outbox.add('post', { text })
    const isOffline = () =>
      Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }))
    await outbox.flush(isOffline, expect.fail)
    expect(await outbox.letters()).toHaveLength(3)
    const reopened = new Outbox(storage, alice)
    // The answer to the first one is lost after the server has executed it.
    const loseAnswer = async (letter: Letter) => {
      await sendAs(alice)(letter)
      throw new TypeError('fetch failed')
    }
    await reopened.flush(loseAnswer, expect.fail)
    expect(await reopened.letters()).toHaveLength(3)
    await Promise.all([
      reopened.flush(sendAs(alice), ignore),
      reopened.flush(sendAs(alice), ignore),
    ])
    expect(await reopened.letters()).toEqual([])
    expect(await textsOf(alice)).toEqual(['third', 'second', 'first'])
  })

  test('gives back what the server refuses, and goes on with the next', async () => {
    const { alice } = await createWorld(app)
    const outbox = new Outbox(openStorage(), alice)
    await outbox.add('post', { text: '' })
    await outbox.add('post', { text: 'good' })
    const refused: string[] = []
    await outbox.flush(sendAs(alice), (_, reason) => refused.push((reason as Error).message))
    expect(refused).toEqual([expect.stringContaining('input.text')])
    expect(await textsOf(alice)).toEqual(['good'])
  })

  test('keeps what is added while it is sent', async () => {
    const { alice } = await createWorld(app)
    const outbox = new Outbox(openStorage(), alice)
    await outbox.add('post', { text: 'first' })
    await outbox.flush(async (letter) => {
      if ('text' in letter.input && letter.input.text === 'first') {
        await outbox.add('post', { text: 'second' })
      }
      return sendAs(alice)(letter)
    }, expect.fail)
    expect(await outbox.letters()).toEqual([])
    expect(await textsOf(alice)).toEqual(['second', 'first'])
  })

  test('does not repeat what was sent so long ago that the server no longer knows it', async () => {
    const storage = openStorage()
    const letter = {
      kind: 'post',
      input: { clientMutationId: 'old' },
      sentAt: Date.now() - 86_400_000,
    }
    storage.setItem('feedline.outbox.alice', JSON.stringify([letter]))
    const refused: unknown[] = []
    await new Outbox(storage, 'alice').flush(sendAs('alice'), ({ input }) => refused.push(input))
    expect(refused).toEqual([{ clientMutationId: 'old' }])
  })

  test('holds a hundred mutations', async () => {
    const outbox = new Outbox(openStorage(), 'alice')
    for (let n = 0; n < 100; n++) await outbox.add('post', {})
    await expect(outbox.add('post', {})).rejects.toThrow('Too much waits')
  })
})

test('a page that a server renders has the posts, and its state fills the cache of a browser', async () => {
  const { alice, bob, write } = await createWorld(app)
  await write(bob, ['hello </script><script>alert(1)</script>'])
  const { html, state } = await renderPage(serverOf(alice), HomePage)
  expect(html).toContain('hello &lt;/script&gt;')
  expect(state).not.toContain('<')
  const client = resumeClient(serverOf(alice), state)
  const held = client.readQuery({ query: HomeTimelineDocument })
  expect(held?.timeline?.edges[0]?.node?.text).toMatch(/^hello/)
  expect(held?.timeline?.pollCursor).toEqual(expect.any(String))
})

test('a page that a server renders has the pictures of posts without a text, and links to other attachments', async () => {
  const { alice, bob } = await createWorld(app)
  const picture = {
    url: 'https://pictures.example/dunes',
    kind: 'IMAGE',
    alt: 'Two dunes',
  } as const
  const page = { url: 'https://pictures.example/story', kind: 'LINK', alt: 'Their story' } as const
  const attachments = [{ ...picture, width: 1_200, height: 900 }, page]
  await app.services.posts.create(handle(bob), { text: '', attachments })
  const { html } = await renderPage(serverOf(alice), HomePage)
  expect(html).toMatch(/<img (?=.*alt="Two dunes")(?=.*width="1200")(?=.*loading="lazy")/)
  expect(html).toContain('<a href="https://pictures.example/story">Their story</a>')
  expect(html).not.toContain('<p></p>')
})

test('polls with a kept tag are answered without a body, and news are not', async () => {
  const { alice, bob, carol, write } = await createWorld(app)
  await write(bob, ['held'])
  const { timeline } = await ask(serverOf(alice), HomeTimelineDocument, {})
  const statuses: number[] = []
  const realFetch = globalThis.fetch
  const tagged = createTaggedFetch()
  const poll = async () => {
    const variables = JSON.stringify({ since: timeline?.pollCursor })
    const search = new URLSearchParams({ query: print(TimelineNewsDocument), variables })
    const answer = await tagged(`${app.url}/graphql?${search}`, {
      headers: { authorization: `Dev ${alice}` },
    })
    return ((await answer.json()) as { data: { timelineNews: { count: number } } }).data
      .timelineNews
  }
  globalThis.fetch = async (...args) => {
    const response = await realFetch(...args)
    statuses.push(response.status)
    return response
  }
  try {
    const answers = [await poll(), await poll(), await poll()]
    expect(answers.map(({ count }) => count)).toEqual([0, 0, 0])
    expect(statuses.slice(1)).toEqual([304, 304])
    await write(carol, ['new'])
    expect((await poll()).count).toBe(1)
  } finally {
    globalThis.fetch = realFetch
  }
})

test('a mock client answers each document with values of the right types, and with those of a test', async () => {
  const sdl = await readFile('schema/schema.graphql', 'utf8')
  const client = createMockClient(sdl, { Post: () => ({ text: 'made up' }) })
  const { data } = await client.query({ query: HomeTimelineDocument, variables: { first: 3 } })
  const post = data?.timeline?.edges[0]?.node
  expect(post?.text).toBe('made up')
  expect(post?.createdAt).toBe('2026-01-31T12:00:00.000Z')
  expect(post?.likeCount).toEqual(expect.any(Number))
  const page = await client.query({ query: PostPageDocument, variables: { id: post?.id ?? '' } })
  expect(page.error).toBeUndefined()
})
