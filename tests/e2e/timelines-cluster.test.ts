import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../support/mongo.ts'
import { type FeedlineProcess, feedline } from '../support/process.ts'
import { type TimelinesSet, timelinesSet } from '../support/timelines-set.ts'

const database = useDatabase()
const sets: TimelinesSet[] = []
const stops: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  sets.push(await timelinesSet(), await timelinesSet())
})
afterAll(async () => {
  for (const stop of stops) await stop()
  for (const set of sets) await set[Symbol.asyncDispose]()
})

function start(command: 'serve' | 'worker', uri: string | undefined) {
  const own = feedline([command], {
    ...{ MONGODB_URI: database.uri, MONGODB_DATABASE: database.name, PORT: '0' },
    ...{ FEED_STRATEGY: 'INBOX', ...(uri ? { TIMELINES_URI: uri } : {}) },
  })
  stops.push(async () => {
    own.child.kill('SIGKILL')
    await own.ended
  })
  return own
}

/** 'started', or the exit code and the error. */
const outcomeOf = async ({ says, ended, err }: FeedlineProcess): Promise<string> =>
  says(/timeline strategy|running up to/)
    .then(() => 'started')
    .catch(async () => `${await ended} ${err()}`)

test('of processes with different timelines clusters that start at once on a new database, those of one start', async () => {
  const uris = sets.map(({ uri }) => uri)
  const servers = uris.map((uri) => start('serve', uri))
  const workers = uris.map((uri) => start('worker', uri))
  const ofServers = await Promise.all(servers.map(outcomeOf))
  const ofWorkers = await Promise.all(workers.map(outcomeOf))
  const taken = ofServers.indexOf('started')
  expect([ofServers[taken], ofWorkers[taken]]).toEqual(['started', 'started'])
  const none = await outcomeOf(start('serve', undefined))
  for (const refused of [ofServers[1 - taken], ofWorkers[1 - taken], none])
    expect(refused).toMatch(/^1 .*TIMELINES_URI: this database stores its timelines on 127/s)
  const registered = await database.collections.strategies.findOne({ _id: 'INBOX' })
  const place = await database.db.collection('meta').findOne({ hosts: { $exists: true } })
  expect(uris[taken]).toContain(place?.hosts[0])
  expect(registered?.cluster).toEqual({ mark: place?.value, election: place?.election })
})
