import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { feedStrategyNames, materialisedNames } from '../../src/feed/strategies/list.ts'
import { runCommand } from '../support/command-line.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { feedline } from '../support/process.ts'
import { useEarlierRelease } from './migrations/earlier-release.ts'

/** A commit with schema version 3, whose accounts have their handle as their id. */
const previous = '1c6f2aa'
const count = 8
const handles = Array.from({ length: count }, (_, n) => `user${n}`)
const earlier = useEarlierRelease(previous)

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts on every field it reads
  readonly data: any
  readonly errors?: readonly { readonly message: string; readonly extensions: { code: string } }[]
}

async function send(url: string, as: string, query: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
  const body = JSON.stringify({ query })
  return (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).json()
}

/** The data of an answer without errors. */
async function ask(url: string, as: string, query: string) {
  const { data, errors } = await send(url, as, query)
  if (errors) throw new Error(`${as}: ${query}: ${JSON.stringify(errors)}`)
  return data
}

const at = (n: number) => handles[n % count] as string
const publish = async (url: string, as: string, text: string): Promise<string> =>
  (await ask(url, as, `mutation { createPost(input: { text: "${text}" }) { post { id } } }`))
    .createPost.post.id

test(
  `a database of ${previous} with all strategies is migrated under traffic, and its accounts keep their ids`,
  async () => {
    const name = `test_${randomBytes(6).toString('hex')}`
    const db = earlier.openDb(name)
    const env = {
      ...{ NODE_ENV: 'test', PORT: '0', LOG_LEVEL: 'info', FEED_STRATEGY: 'INBOX' },
      ...{ FEED_MAINTAINED: materialisedNames.join(), CACHE_SIZE: '200' },
      ...{ MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: name },
    }
    const start = async (of?: string) => {
      const server = feedline(['serve'], env, of)
      return { server, url: (await server.says(/GraphQL: (http\S+)\/graphql/))[1] ?? '' }
    }
    const delivered = async () => {
      while (await db.collection('outbox').findOne({ state: { $ne: 'PARKED' } })) await sleep(20)
    }
    const old = await start(earlier.folder)
    for (const as of [...handles, 'gone'])
      await ask(old.url, as, `mutation { createUser(input: { name: "${as}" }) { user { id } } }`)
    for (const [n, as] of handles.entries()) {
      const follows = [1, 2, 3].map(
        (step) =>
          `f${step}: followUser(input: { user: { handle: "${at(n + step)}" } }) { changed }`,
      )
      await ask(old.url, as, `mutation { ${follows.join(' ')} }`)
    }
    await ask(
      old.url,
      at(0),
      `mutation { blockUser(input: { user: { handle: "${at(3)}" } }) { changed } }`,
    )
    const mention = await publish(old.url, at(1), `hello @${at(2)} and @gone`)
    await delivered()
    const ids = new Map<string, string>()
    for (const as of handles)
      ids.set(as, (await ask(old.url, as, `{ user(handle: "${as}") { id } }`)).user.id)
    const names = ['users', 'followers', 'following', 'posts', 'inbox'] as const
    const documents = async () =>
      Object.fromEntries(
        await Promise.all(
          names.map(async (one) => [
            one,
            await db.collection(one).find().sort({ _id: 1 }).toArray(),
          ]),
        ),
      )
    const before = await documents()

    // Every write of the traffic is acknowledged, also while the database is migrated and both releases serve.
    const urls = [old.url]
    const published: { readonly by: number; readonly id: string }[] = []
    let goesOn = true
    const traffic = async () => {
      for (let n = 0; goesOn; n++) {
        const url = urls[n % urls.length] as string
        published.push({ by: n % count, id: await publish(url, at(n), `post ${n}`) })
        await ask(url, at(n), `mutation { updateUser(input: { bio: "${n}" }) { user { bio } } }`)
        const pair = `input: { user: { handle: "${at(n + 4)}" } }`
        await ask(
          url,
          at(n),
          `mutation { a: followUser(${pair}) { changed } b: unfollowUser(${pair}) { changed } }`,
        )
      }
    }
    const running = traffic()
    running.catch(() => {})
    await sleep(500)
    const migration = await runCommand(['migrate'], env)
    expect(migration.code, migration.stderr).toBe(0)
    const current = await start()
    urls.push(current.url)
    const beside = published.length
    while (published.length < beside + 2 * count) await Promise.race([sleep(50), running])
    goesOn = false
    await running
    noteFact(`a migration from ${previous}: ${published.length} posts under traffic, none refused`)

    // The previous release opens no account that this one would not know.
    const late = await send(
      old.url,
      'late',
      'mutation { createUser(input: { name: "L" }) { user { id } } }',
    )
    expect(late.errors).toHaveLength(1)
    expect(await db.collection('users').findOne({ _id: 'late' as never })).toBeNull()
    const { createUser } = await ask(
      current.url,
      'late',
      'mutation { createUser(input: { name: "L", handle: "later" }) { user { id handle } } }',
    )
    expect(createUser.user).toMatchObject({ handle: 'later' })

    await delivered()
    const after = await documents()
    for (const one of names.filter((other) => other !== 'users')) {
      const stored = new Map(
        after[one].map((doc: { _id: unknown }) => [JSON.stringify(doc._id), doc]),
      )
      for (const doc of before[one]) {
        const { groups: _, guard: __, ...rest } = doc
        expect(stored.get(JSON.stringify(doc._id)), one).toMatchObject(rest)
      }
    }
    for (const [n, as] of handles.entries()) {
      const { viewer } = await ask(current.url, as, '{ viewer { handle user { id handle } } }')
      expect(viewer).toEqual({ handle: as, user: { id: ids.get(as), handle: as } })
      // A block ends the follow.
      const authors = new Set([0, 1, 2, 3].map((step) => at(n + step)))
      if (as === at(0)) authors.delete(at(3))
      const shown = published.filter(({ by }) => authors.has(at(by)))
      for (const strategy of feedStrategyNames) {
        const page = `{ timeline(first: 100, strategy: ${strategy}) { servedBy edges { node { id } } } }`
        const { timeline } = await ask(current.url, as, page)
        const expected = shown.map(({ id }) => id).toReversed()
        const listed = timeline.edges.map(({ node }: { node: { id: string } }) => node.id)
        expect(
          listed.filter((id: string) => id !== mention).slice(0, 90),
          `${as} ${strategy}`,
        ).toEqual(expected.slice(0, 90))
      }
    }
    // What was written before names its account, whatever the handle is now.
    await ask(
      current.url,
      at(2),
      'mutation { updateUser(input: { handle: "renamed" }) { user { id } } }',
    )
    await ask(current.url, 'gone', 'mutation { deleteUser(input: {}) { changed } }')
    const post = `{ post(id: "${mention}") { facets { handle user { id handle } } } }`
    expect((await ask(current.url, at(0), post)).post.facets).toEqual([
      { handle: at(2), user: { id: ids.get(at(2)), handle: 'renamed' } },
      { handle: 'gone', user: null },
    ])
    expect((await ask(old.url, at(0), `{ user(handle: "${at(2)}") { id } }`)).user.id).toBe(
      ids.get(at(2)),
    )
    const verified = await runCommand(['verify'], env)
    expect(verified.code, verified.stdout + verified.stderr).toBe(0)
    for (const { server } of [old, current]) {
      server.child.kill('SIGTERM')
      expect(await server.ended, server.err()).toBe(0)
    }
    await db.dropDatabase()
  },
  patient(180_000),
)
