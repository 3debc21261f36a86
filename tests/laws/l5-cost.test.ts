import { mkdirSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { BSON, type CommandSucceededEvent } from 'mongodb'
import { beforeAll, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import { commandPrice, fanOutsOfTimeline, followeesPerPrice } from '../../src/graphql/prices.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { type EdgeId, IdMint, type PostId, type PostRef, type UserId } from '../../src/lib/ids.ts'
import { timeCursors } from '../../src/pages/cursor.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../src/timeline/pages/poll-cursor.ts'
import { feedStrategyNames, isMaterialised } from '../../src/timeline/strategies/list.ts'
import { type AnsweredError, useApp, withLimits } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { handle, openAccounts } from '../support/services.ts'
import { type RandomRequest, randomRequest, type Values } from './model/random-documents.ts'

const app = useApp(
  { FEED_MAINTAINED: feedStrategyNames.join() },
  withLimits({ threshold: 3, capacity: 5 }),
)
const schema = createSchema()
const reader = handle('reader')
const people = Array.from({ length: 40 }, (_, n) => handle(`p${n}`))
/** Followees without accounts, so that only a timeline reads them. */
const quiet = Array.from({ length: 700 }, (_, n) => handle(`q${n}`))
const followees = people.length + quiet.length
const mint = new IdMint(Date.now)
let values: Values = {}
/**
 * The processor time of the reference, in milliseconds. Before it is measured, the unit is a
 * millisecond.
 */
let referenceMs = 1

/**
 * What one unit of cost may take, beyond {@link base}. Processor time is in units of
 * {@link reference}.
 */
const perCost = { commands: 1 / commandPrice, answerBytes: 200, replyBytes: 500, cpu: 1.5 / 1_000 }
/** What every request may take. The commands are those of one timeline that fans out on read. */
const base = {
  commands: Math.floor(followees / followeesPerPrice) * fanOutsOfTimeline,
  answerBytes: 2_000,
  replyBytes: 50_000,
  cpu: 2,
}
/**
 * A usual page that is read from the database. Its processor time, in the same run, is the unit:
 * machines differ.
 */
const reference = `{ user(handle: "p1") { posts(first: 20) { edges { node { id text author { handle name }
  likeCount viewerHasLiked } } }
  followers(first: 20) { edges { node { handle name } } } } }`
type Measure = keyof typeof perCost
const measures = Object.keys(perCost) as Measure[]

beforeAll(async () => {
  const { services } = app
  const { collections, edges, engagements, registrations, restrictions } = services
  await openAccounts(services, [reader, ...people])
  const follow = (follower: UserId, followee: UserId) => {
    return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
  }
  const around = people.flatMap((one, n) =>
    [1, 2, 3, 5, 8].map((step) => follow(one, people[(n + step) % people.length] as UserId)),
  )
  const own = [...quiet, ...people].map((one) => follow(reader, one))
  await storeEdges(services, [...around, ...own], { history: false })
  await collections.user_stats.updateOne({ _id: reader }, { $set: { following: followees } })
  const { collection, owner } = edges.following
  await collection.updateMany({ [owner]: reader }, { $set: { groups: ['close', 'work'] } })
  const posts: PostRef[] = people.flatMap((author) =>
    Array.from({ length: 5 }, () => ({ id: mint.next<PostId>(), author })),
  )
  await collections.posts.insertMany(
    posts.map(({ id, author }) => ({ _id: toObjectId(id), author, text: 'x'.repeat(300) })),
  )
  const popular = posts.slice(-3)
  for (const post of popular) {
    await Promise.all(people.slice(0, 9).map((one) => engagements.add('likes', one, post)))
    await Promise.all(
      people
        .slice(0, 5)
        .flatMap((one) => [
          engagements.add('shares', one, post),
          engagements.add('comments', one, post, { text: 'y'.repeat(300) }),
        ]),
    )
  }
  for (const muted of people.slice(-2)) await restrictions.mute(reader, muted)
  for (const name of feedStrategyNames) if (isMaterialised(name)) await registrations.rebuild(name)
  await app.rest()
  const handles = [reader, ...people]
  const refs = [...popular, ...posts.slice(0, 40)]
  const ids = [...refs.map(postNodeId), ...handles.map(userNodeId)]
  const cursors = posts.map(({ id }) => timeCursors.encode(id))
  const sizes = [0, 1, 2, 3, 5, 10, 20, 50, 100]
  values = {
    first: sizes,
    last: sizes,
    after: cursors,
    before: cursors,
    handle: handles,
    id: ids,
    ids: [ids.slice(0, 1), ids.slice(0, 10), ids],
    post: refs.map(postNodeId),
    group: ['close', 'work', 'none'],
    strategy: feedStrategyNames,
    code: ['CONFLICT'],
    since: posts.map(({ id }) => pollCursors.encode(startingAt(id))),
  }
})

/** The answer to a request, and what it took. */
async function taken({ query, variables }: RandomRequest) {
  const { client } = app.database
  const replies: CommandSucceededEvent[] = []
  const listener = (event: CommandSucceededEvent) => void replies.push(event)
  client.on('commandSucceeded', listener)
  const before = process.cpuUsage()
  const { result, commands } = await recorded(client, () =>
    app.send({ as: reader, query, variables }),
  )
  const { user, system } = process.cpuUsage(before)
  client.off('commandSucceeded', listener)
  const took: Record<Measure, number> = {
    commands: commands.length,
    answerBytes: Buffer.byteLength(JSON.stringify(result.data ?? null)),
    replyBytes: replies.reduce(
      (sum, { reply }) => sum + BSON.calculateObjectSize(reply as object),
      0,
    ),
    cpu: (user + system) / 1_000 / referenceMs,
  }
  return { ...result, took, labels: labelsOf(commands) }
}

/** The highest share of its bound that an answered request took, of each measure. */
interface Worst {
  share: number
  took?: number
  cost?: number
  request?: RandomRequest
}

/**
 * Groups are private. Lists of groups and suggestions have cursors of their own, and only some ids
 * are of posts.
 */
const isExpected = ({ message, extensions: { code } }: AnsweredError) =>
  code === 'FORBIDDEN' || /is not (a cursor|the id of a post)/.test(message)

const runs = lawRuns(40)

/** Sets the unit of processor time: the median of a warm server. */
async function measureReference(): Promise<void> {
  const times: number[] = []
  for (let n = 0; n < 60; n++) {
    times.push((await taken({ query: reference, variables: {} })).took.cpu)
  }
  referenceMs = times.slice(20).sort((a, b) => a - b)[20] ?? 1
}

/**
 * What a request took. Compilation and garbage collection also take time, so a slow request is
 * measured again.
 */
async function takenAtLeast(request: RandomRequest) {
  let least = await taken(request)
  for (let n = 0; n < 3; n++) {
    const { cost } = least.extensions ?? {}
    if (!cost || least.took.cpu <= base.cpu + perCost.cpu * cost.requested) break
    const { took } = await taken(request)
    least = { ...least, took: { ...least.took, cpu: Math.min(least.took.cpu, took.cpu) } }
  }
  return least
}

test(
  'the cost of every admitted document bounds its commands, bytes and processor time',
  async () => {
    const worst = Object.fromEntries(measures.map((name) => [name, { share: 0 }])) as Record<
      Measure,
      Worst
    >
    await measureReference()
    const outcomes = { answered: 0, refused: 0 }
    const property = fc.asyncProperty(fc.gen(), async (g) => {
      const request = randomRequest(g, schema, values)
      const { errors, extensions, took, labels } = await takenAtLeast(request)
      const { requested: cost, limit } = extensions?.cost ?? {}
      const context = JSON.stringify({ errors, took, labels, cost, ...request })
      const refusal = errors[0]?.extensions.limit
      if (refusal !== undefined) {
        outcomes.refused++
        if (refusal === 'cost') expect(cost, context).toBeGreaterThan(limit)
        expect(took.commands, context).toBeLessThanOrEqual(1)
        return
      }
      outcomes.answered++
      expect(
        errors.filter((error) => !isExpected(error)),
        context,
      ).toEqual([])
      for (const name of measures) {
        const share = took[name] / (base[name] + perCost[name] * cost)
        if (share > worst[name].share) worst[name] = { share, took: took[name], cost, request }
        expect(share, `${name}: ${context}`).toBeLessThanOrEqual(1)
      }
    })
    try {
      await fc.assert(property, { numRuns: runs, endOnFailure: true, ...lawSeed() })
    } finally {
      mkdirSync('test-results', { recursive: true })
      writeFileSync('test-results/request-cost.json', JSON.stringify({ outcomes, worst }, null, 1))
      const shares = measures.map((name) => `${name} ${worst[name].share.toFixed(2)}`)
      noteFact(
        `L5: ${JSON.stringify(outcomes)}, highest shares of the bounds: ${shares}; the reference took ${referenceMs.toFixed(1)} ms`,
      )
    }
    expect(outcomes.answered).toBeGreaterThan(runs / 3)
  },
  patient(60_000 + runs * 2_000),
)
