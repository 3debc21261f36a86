import fc from 'fast-check'
import type { Document } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sameLimits } from '../support/engagement.ts'
import { noteFact } from '../support/facts.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { keepMemory } from '../support/memory.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import { servicesOver, useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import {
  anyTwinPlan,
  givenNames,
  otherLimits,
  playTwins,
  TwinClock,
  type TwinPlan,
  type TwinProcess,
  twinLimits,
} from './model/twin-lists.ts'

const histories = lawRuns(12)
const budgetMs = 60_000 + histories * 3_000
const harness = useServices('collection', sameLimits(twinLimits))
const opened: TwinProcess[] = []
const counts = { direct: 0, updates: 0 }

/** The filter of an add without a read. Undefined for any other write. */
const filterOf = ({ updateOne }: Document): Document | undefined =>
  updateOne?.filter.$expr && updateOne.filter

function processOver(change: (call: Call) => void = () => {}, limits = twinLimits): TwinProcess {
  const clock = new TwinClock()
  const { client, db } = harness.database
  const over = { client, db: intercepted(db, { change }) }
  const services = servicesOver(over, clock, sameLimits(limits))
  const process = { services, clock }
  opened.push(process)
  return process
}

/** @param change what a mutant changes in the filters of adds without a read. */
async function processAtOnce(change: (filter: Document) => void = () => {}): Promise<TwinProcess> {
  const process = processOver(({ collection, method, args: [writes] }) => {
    if (collection !== 'posts' || method !== 'bulkWrite') return
    for (const write of writes as unknown as Document[]) {
      const filter = filterOf(write)
      if (filter) change(filter)
      counts[filter ? 'direct' : 'updates']++
    }
  })
  await keepMemory(process.services)
  return process
}

let processes: { direct: TwinProcess; reading: TwinProcess; other: TwinProcess }
beforeAll(async () => {
  processes = {
    direct: await processAtOnce(),
    reading: processOver(),
    other: processOver(undefined, otherLimits),
  }
})
afterAll(() => Promise.all(opened.map(({ services }) => services.memory.close())))

const add = { verb: 'add', kind: 'likes', letters: 1, ahead: 0, by: 'OWN' } as const
const likeOf = (user: number) => ({ ...add, user })
const repeated = { ...likeOf(1), mutation: 0 }
/**
 * An entry whose mutation is repeated after its removal, and its clientMutationId used for another
 * input.
 */
const repeats: TwinPlan = {
  given: 'nothing is stored',
  list: 'likes',
  writes: [repeated, { ...likeOf(1), verb: 'remove' }, repeated, { ...repeated, kind: 'shares' }],
}

test(
  'a process that adds entries at once answers and stores what one that reads before answers and stores',
  async () => {
    const law = fc.asyncProperty(anyTwinPlan, async (plan) => playTwins(processes, plan))
    await checkLaw(law, { name: 'L2, at once', histories, budgetMs, examples: [[repeats]] })
    noteFact(`L2, at once: ${counts.direct} adds without a read, ${counts.updates} updates`)
    expect(counts.direct).toBeGreaterThan(0)
  },
  patient(budgetMs + 30_000),
)

test.each(share(4, givenNames))(
  'adds at once equal those that read before, in every list of a post where %s',
  async (given) => {
    for (const kind of ['likes', 'comments'] as const) {
      const writes = [1, 1, 2, 3].map((user) => ({ ...likeOf(user), kind, letters: user }))
      const remove = { ...likeOf(1), kind, verb: 'remove' as const }
      await playTwins(processes, { given, list: kind, writes: [...writes, remove, likeOf(1)] })
    }
  },
)

/** What mutants leave out of the filter, and a history that finds each. */
const mutants: Readonly<Record<string, readonly [(filter: Document) => void, Partial<TwinPlan>]>> =
  {
    'the author is not compared': [
      // It still names shards, as each recorded command must.
      (filter) => {
        filter.author = { $in: [filter.author, String(filter.author).replace('user-1', 'user-0')] }
      },
      { writes: [{ ...likeOf(1), as: 'FORGED' }] },
    ],
    'an entry of the actor is ignored': [
      (filter) => delete filter['likes.actor'],
      { writes: [likeOf(1), likeOf(1)] },
    ],
    'a full post is ignored': [
      (filter) => delete filter['likes.2'],
      { given: 'the post is full', writes: [likeOf(1)] },
    ],
    'the overflow of another process is ignored': [
      (filter) => delete filter['levels.likes'],
      {
        writes: [
          ...[0, 1, 2, 3].map((user) => ({ ...likeOf(user), by: 'OTHER' as const })),
          { ...likeOf(0), verb: 'remove', by: 'OTHER' },
          likeOf(0),
        ],
      },
    ],
    'a later place is ignored': [
      (filter) => delete filter.$or,
      { writes: [{ ...likeOf(1), by: 'OTHER', ahead: 6 }, likeOf(2)] },
    ],
    'the deadline is ignored': [
      (filter) => {
        filter.$expr = { $and: filter.$expr.$and?.slice(1) ?? [] }
      },
      { writes: [{ ...likeOf(1), as: 'LATE' }] },
    ],
    'the bytes of texts are ignored': [
      (filter) => {
        if (filter.$expr.$and) filter.$expr.$and.length = 1
      },
      {
        given: 'the post has no room for a text, by a byte',
        list: 'comments',
        writes: [{ ...likeOf(1), kind: 'comments' }],
      },
    ],
  }

test.each(share(1, Object.keys(mutants)))('a history finds the mutant: %s', async (name) => {
  const [change, history] = mutants[name] as (typeof mutants)[string]
  const plan: TwinPlan = { given: 'nothing is stored', list: 'likes', writes: [], ...history }
  const direct = await processAtOnce(change)
  // A process whose memory is in doubt reads, and so is no mutant.
  const play = () =>
    playTwins({ ...processes, direct }, plan).then(
      () => undefined,
      (error: unknown) => error,
    )
  let found = await play()
  for (let more = 20; more > 0 && found === undefined; more--) found = await play()
  expect(String(found)).toContain('AssertionError')
})
