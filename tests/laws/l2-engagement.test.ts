import fc from 'fast-check'
import type { Document } from 'mongodb'
import { describe, expect, onTestFinished, test } from 'vitest'
import { engagementKinds } from '../../src/engagement/kinds.ts'
import type { Services } from '../../src/services.ts'
import { engagementProblems, sameLimits } from '../support/engagement.ts'
import { noteFact } from '../support/facts.ts'
import { type Call, intercepted } from '../support/intercept.ts'
import { keepMemory } from '../support/memory.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns, timeOfCases } from '../support/seed.ts'
import { servicesOver, useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import { engagementLaw, raceLaw } from './model/engagement-law.ts'

const histories = lawRuns(4)
const races = lawRuns(2)

describe.each(share(1, [0, 1, 3]))('lists of %d in the post and 2 a level', (threshold) => {
  const limits = { threshold, capacity: 2 }
  const harness = useServices('collection', sameLimits(limits))
  const budgetMs = 30_000 + histories * 3_000
  const name = `L2, threshold ${threshold}`

  test(
    'every count, page and viewer field of engagement equals the model after any history',
    async () => {
      await checkLaw(engagementLaw(harness, limits), { name, histories, budgetMs })
    },
    patient(budgetMs + 30_000),
  )

  test(
    '32 concurrent writers of three processes, two of them with memory, store exactly their acknowledged engagement',
    async () => {
      const [other, reading] = [0, 1].map(() =>
        servicesOver(harness.database, harness.clock, sameLimits(limits)),
      ) as [Services, Services]
      await keepMemory(other)
      onTestFinished(() => other.memory.close())
      const tally = new Map<string, number>()
      const law = raceLaw({ ...harness, all: [harness.services, other, reading] }, limits, tally)
      await checkLaw(law, { name: `${name}, races`, histories: races, budgetMs })
      noteFact(`${name}, races: ${JSON.stringify(Object.fromEntries(tally))}`)
      expect(tally.get('changed')).toBeGreaterThan(races * 20)
    },
    patient(budgetMs + 30_000),
  )
})

type Mutant = (call: Call) => void

/** Changes what a transaction reads of the lists of posts. */
const blind =
  (part: string, value: unknown): Mutant =>
  ({ collection, method, args }) => {
    const projection = args.find((argument) => argument?.projection)?.projection
    if (collection !== 'posts' || method !== 'find' || !projection?.now) return
    for (const name of Object.keys(projection)) {
      if (name === part || name.startsWith(`${part}.`)) projection[name] = { $literal: value }
    }
  }

describe('L2 mutants', () => {
  const limits = { threshold: 3, capacity: 2 }
  const harness = useServices('collection', sameLimits(limits))

  const broken = (change: Mutant): Services => {
    const { database, clock } = harness
    const db = intercepted(database.db, { change })
    return servicesOver({ client: database.client, db }, clock, sameLimits(limits))
  }

  /** The fields that a transaction sets in posts. */
  const listUpdates = ({ collection, method, args: [writes] }: Call) => {
    if (collection !== 'posts' || method !== 'bulkWrite') return []
    return (writes as unknown as Document[]).flatMap(
      ({ updateOne: { update } }): Document[] => update[0]?.$set ?? [],
    )
  }

  const mutants: Record<string, Mutant> = {
    'an entry of the user in the post is ignored': blind('about', []),
    'the overflow of a post is ignored': blind('levels', {}),
    'a full post is ignored': blind('fill', { count: 0, bytes: 0 }),
    'an entry of the user in the overflow is ignored': ({ collection, method, args }) => {
      const beyond = collection === 'overflow' && method === 'find' && args[0]
      if (beyond && Object.keys(beyond).some((name) => name.startsWith('items.'))) {
        beyond['_id.kind'] = 'none'
      }
    },
    'an empty level is not deleted': ({ collection, method, args }) => {
      if (collection !== 'overflow' || method !== 'bulkWrite' || !args[0]) return
      args[0] = args[0].map((write: { deleteOne?: { filter: object } }) => {
        const update = { $set: { count: 0, items: [] } }
        return write.deleteOne ? { updateOne: { ...write.deleteOne, update } } : write
      })
    },
    'a post without levels keeps its flag': (call) => {
      for (const set of listUpdates(call)) {
        if (set.has_overflow === '$$REMOVE') set.has_overflow = true
      }
    },
    'an entry is removed without its count': (call) => {
      for (const set of listUpdates(call)) {
        for (const kind of engagementKinds) {
          const add = set[`counts.${kind}`]?.$add
          if (add?.[1] < 0) add[1] = 0
        }
      }
    },
    'rows of the log are never deleted': ({ collection, method, args: [filter] }) => {
      if (collection === 'engagements_by_user' && method === 'deleteMany') {
        Object.assign(filter ?? {}, { user: { $in: [] } })
      }
    },
    'rows of the log are not inserted': ({ collection, method, args: [docs] }) => {
      if (collection !== 'engagements_by_user' || method !== 'insertMany') return
      for (const doc of docs as unknown as { user: string }[]) doc.user = 'unknown'
    },
  }

  /**
   * The index of the seed's first history that finds a mutant, if it is not the first. Earlier
   * histories are skipped.
   */
  const shownAt: Record<string, string> = {
    'the overflow of a post is ignored': '19',
    'an empty level is not deleted': '58',
    'a post without levels keeps its flag': '58',
  }

  test.each(Object.keys(mutants))(
    'the law finds the mutant: %s',
    async (name) => {
      const services = broken(mutants[name] as Mutant)
      const law = engagementLaw({ services, rest: harness.rest }, limits)
      const path = shownAt[name] ?? '0'
      const options = { numRuns: 200, endOnFailure: true, seed: 1, path }
      const outcome = await fc.check(law, options)
      noteFact(`L2 mutant: ${name}: failed after ${outcome.numRuns} histories`)
      expect(outcome).toMatchObject({ failed: true, interrupted: false })
      expect(String(outcome.errorInstance)).toContain('AssertionError')
    },
    patient(120_000),
  )

  test(
    'the law finds batches that are no transactions during concurrent writes',
    async () => {
      const change: Mutant = ({ args }) => {
        for (const options of args) if (options?.session) delete options.session
      }
      const all = [broken(change), broken(change)]
      const law = raceLaw({ ...harness, services: all[0] as Services, all }, limits, new Map())
      const outcome = await fc.check(law, { numRuns: 20, endOnFailure: true, seed: 1 })
      noteFact(`L2 mutant: no transaction: failed after ${outcome.numRuns} races`)
      expect(outcome).toMatchObject({ failed: true, interrupted: false })
      expect(await engagementProblems(harness.services, limits)).not.toEqual([])
    },
    timeOfCases(120_000),
  )
})
