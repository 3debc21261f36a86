import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { feedline } from '../support/process.ts'
import { type Backend, ReadyServers } from '../support/ready-servers.ts'

const database = useDatabase()

const servers = new ReadyServers()

/** Starts a server behind the balancer of this test. */
async function start() {
  const server = feedline(['serve'], {
    MONGODB_URI: inject('mongoUri'),
    MONGODB_DATABASE: database.name,
    PORT: '0',
    DRAIN_SECONDS: '1',
  })
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  const backend = servers.add(url)
  const stop = async () => {
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    servers.remove(backend)
  }
  return { backend, stop }
}

const documents = [
  '{ user(handle: "ann") { name postCount } }',
  'mutation { createPost(input: { text: "x" }) { post { id } } }',
  '{ timeline(first: 5) { edges { node { text } } } }',
]

test('a client that honours readiness loses no request while all servers restart under load', {
  timeout: patient(90_000),
}, async () => {
  const [first, second] = await Promise.all([start(), start()])
  const problems: string[] = []
  let running = true
  const send = async (query: string) => {
    const backend = servers.pick()
    if (!backend) return void problems.push('no server is ready')
    try {
      const answer = await fetch(`${backend.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Dev ann' },
        body: JSON.stringify({ query }),
      })
      const { errors } = (await answer.json()) as { errors?: unknown }
      if (!answer.ok || errors) problems.push(`${answer.status} ${JSON.stringify(errors)}`)
      else backend.answered++
    } catch (error) {
      problems.push(`${error} ${(error as Error).cause}`)
    }
  }
  const probing = servers.probe()
  await expect.poll(() => servers.areReady).toBe(true)
  await send('mutation { createUser(input: { name: "Ann" }) { user { handle } } }')
  const load = [0, 1, 2, 3].map(async (n) => {
    for (let at = n; running; at++) {
      await send(documents[at % documents.length] as string)
      await sleep(20)
    }
  })
  const answers = ({ backend }: { readonly backend: Backend }) =>
    expect.poll(() => backend.answered).toBeGreaterThan(3)
  await answers(first)
  const [third] = await Promise.all([start(), first.stop()])
  await answers(third)
  const [fourth] = await Promise.all([start(), second.stop()])
  await answers(fourth)
  running = false
  servers.stop()
  await Promise.all([probing, ...load])
  expect(problems).toEqual([])
  await Promise.all([third.stop(), fourth.stop()])
})
