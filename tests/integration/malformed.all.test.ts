import type { Document } from 'mongodb'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { CollectionName } from '../../src/db/collections.ts'
import { conforms, type Shape } from '../../src/db/shape.ts'
import { shapes } from '../../src/db/shapes.ts'
import type { Finding } from '../../src/integrity/report.ts'
import { reconcile } from '../../src/integrity/run.ts'
import type { Services } from '../../src/services.ts'
import { materialisedNames } from '../../src/timeline/strategies/list.ts'
import { patient } from '../support/patience.ts'
import { size } from '../support/seed.ts'
import { handle, namesOf, useServices } from '../support/services.ts'
import { activity, addJob, verified } from '../support/verify.ts'
import {
  damage,
  fieldOf,
  type MalformedCase,
  malformedCases,
  readStored,
  restore,
  type Stored,
  textOf,
} from './damage/malformed.ts'

/** Collections whose documents no invariant depends on, and why. */
const unshaped: Partial<Record<CollectionName, string>> = {
  idempotency_keys: 'a first result, which ends after a day',
  imports: 'the checkpoint of an import, which reads it itself',
  rate_limits: 'what a client has used of a minute',
  meta: 'the record of the schema, which each process checks when it starts',
}

/**
 * The beginnings of fields that may have any value of their type, or be absent, without a finding,
 * and why.
 */
const free: Readonly<Record<string, string>> = {
  'users.': 'a profile and its times: no other document has them',
  'subjects.until': 'how long it outlasts an account that is deleted',
  'user_stats.guard': 'raised by writes that must collide',
  'user_stats.audience': 'a version, which only tells that the followers may have changed',
  'user_stats.repairs': 'raised by repairs',
  'following.groups': 'the groups of a user: no other document has them',
  'follow_events._id': 'an order that the events of a pair may have by chance',
  'follow_events.at': 'a time for people: ids decide the order',
  'follow_events.cause': 'a cause for people',
  'restrictions.': 'a mute: no other document has it',
  'posts.text': 'what the author wrote',
  'posts.facets': 'computed again when it is absent',
  'posts.attachments': 'what the author attached',
  'posts.repairs': 'raised by repairs',
  'posts.last.': 'an id that no entry exceeds',
  'posts.guard': 'raised by writes that must collide',
  'posts.comments.text': 'what the user wrote',
  'posts.comments.facets': 'computed again when it is absent',
  'overflow.items.text': 'what the user wrote',
  'overflow.items.facets': 'computed again when it is absent',
  'overflow._id.level': 'any numbers that rise',
  'engagements_by_user.author': 'compared for entries that are in their post',
  'outbox.': 'the job itself: no other document has it',
  'timed_buckets.over': 'a full bucket',
  'timed_buckets.entries.author': 'looked up when it is absent',
  'timed_buckets.entries.text': 'a copy of the text, for pages that ask for no more',
  'sized_buckets._id': 'any id: a bucket is found by its bounds',
  'sized_buckets.newest': 'a bound: a page with a higher one reads more',
  'sized_buckets.open': 'a closed bucket takes no more entries',
  'sized_buckets.entries.author': 'looked up when it is absent',
  'sized_buckets.entries.text': 'a copy of the text, for pages that ask for no more',
  'timeline_cache.': 'a cache of another epoch, or with another floor, is read less often',
  'inbox._id.': 'of an author that the reader does not follow: no page shows the entry',
  'inbox.author': 'looked up when it is absent',
  'inbox.text': 'a copy of the text, for pages that ask for no more',
  'strategies._id': 'a strategy of another release: each server registers its own',
  'strategies.epoch': 'another epoch is another registration, which covers the same readers',
  'strategies.options': 'a server adds the options that a registration lacks',
  'strategies.covered': 'means nothing once a strategy is complete',
  'strategies.readers': 'an estimate for people',
}

/** The collections of what users did. A repair changes only the damaged document of them. */
const ofUsers = [
  ...(['users', 'user_stats', 'followers', 'following', 'follow_events', 'restrictions'] as const),
  ...(['posts', 'overflow', 'engagements_by_user'] as const),
]

const derived = [
  ...['repairs', 'guard', 'counts', 'levels', 'last', 'has_overflow'],
  ...['followers', 'following', 'posts'],
]

describe('malformed documents', () => {
  const harness = useServices('collection', undefined, {
    ...{ maintained: materialisedNames, entries: 'text' },
  })
  let stored: Stored
  let cases: readonly MalformedCase[] = []

  beforeAll(async () => {
    const { services } = harness
    const [ann, bob] = ['ann', 'bob'].map(handle) as [never, never]
    await activity(harness, ['ann', 'bob', 'cem', 'dan'])
    await services.users.update(ann, {
      ...{ bio: 'I am ann', avatarUrl: 'https://a.example/a', bannerUrl: 'https://a.example/b' },
    })
    await services.posts.create(ann, {
      text: 'Hello @bob, see #this',
      attachments: [{ url: 'https://a.example/c', kind: 'IMAGE', alt: 'c', width: 3, height: 4 }],
    })
    await services.follows.setGroups(ann, bob, ['friends'])
    await harness.rest()
    for (const reader of ['ann', 'bob', 'cem', 'dan'].map(handle)) {
      for (const strategy of materialisedNames) {
        const window = { limit: 3, backward: false }
        await services.feed.timeline(reader, { strategy, window, projection: 'ref' })
      }
    }
    await services.users.create(handle('gone'), { ...namesOf(handle('gone')), name: 'Gone' })
    await services.users.delete(handle('gone'))
    await addJob(services, 'post.deleted', { author: 'ann', post: 'b'.repeat(24) }, 'PARKED')
    await services.collections.outbox.updateMany({}, { $set: { runAt: new Date('2099-01-01') } })
    const first = await verified(services)
    expect(first.differences.map(({ kind }) => kind)).toEqual(['parked'])
    await reconcile(services, { readers: 'all' })
    stored = await readStored(services)
    cases = malformedCases(stored)
  }, patient(120_000))

  afterEach(() => restore(harness.services, stored))

  test(
    'one malformed document stops no check and no repair, and repairs make nothing worse',
    async () => {
      const problems: string[] = []
      // At night all cases. They take hours, so each day the same few.
      const step = { small: 3 * 397, standard: 397, night: 1 }[size]
      const tried = cases.filter((_, at) => at % step === Math.min(5, step - 1))
      for (const one of tried) {
        for (const problem of await problemsOf(harness.services, one)) {
          problems.push(`${fieldOf(one)} ${one.type}: ${problem}`)
        }
        await restore(harness.services, stored)
      }
      expect(problems).toEqual([])
    },
    patient(14_400_000),
  )

  const everything = { readers: 'all' } as const

  async function problemsOf(services: Services, one: MalformedCase): Promise<string[]> {
    const damaged = await damage(services, stored, one)
    if (!damaged) return []
    const problems: string[] = []
    const claim = (holds: boolean, problem: () => string) =>
      void (holds || problems.push(problem()))
    const found = await findings(services)
    claim(found.length > 0 || isFree(one, damaged), () => 'not found')
    const first = await reconcile(services, everything)
    claim(first.remaining === 0, () => `${first.remaining} remain`)
    // The second run finds only what the first one has reported.
    const again = await reconcile(services, everything)
    claim(
      again.repaired + again.remaining === 0 && again.unrepairable <= first.unrepairable,
      () => `repairs again, reports ${first.unrepairable}, ${again.sample.map(text)}`,
    )
    const now = await readStored(services)
    // Damage of the right types is another document: the tables of damages say what becomes of it.
    for (const name of isRight(one, damaged) ? [] : ofUsers) {
      const changed = [...(stored.get(name) ?? [])].filter(([id, doc]) => {
        const isDamaged = name === one.collection && id === textOf(one._id)
        return !isDamaged && plain(now.get(name)?.get(id)) !== plain(doc)
      })
      claim(changed.length === 0, () => `changed ${name} ${changed.map(([id]) => id)}`)
      const added = [...(now.get(name) ?? [])].filter(
        ([id]) => !stored.get(name)?.has(id) && id !== textOf(damaged._id),
      )
      claim(added.length === 0, () => `added ${name} ${added.map(([, doc]) => plain(doc))}`)
    }
    return problems
  }

  /** The findings of `verify`, without the job that is always parked. */
  const findings = async (services: Services): Promise<Finding[]> => {
    const { differences } = await verified(services)
    return differences.filter(({ kind }) => kind !== 'parked')
  }

  const text = ({ kind, subject, found }: Finding) => `${kind} ${subject} ${found}`

  /** Without numbers and what is derived from other documents. */
  const plain = (doc: Document | undefined) => {
    const fields = Object.entries(doc ?? {}).filter(([name]) => !derived.includes(name))
    return textOf(Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1))))
  }

  const isRight = ({ collection }: MalformedCase, damaged: Document): boolean => {
    const shape: Shape | undefined = shapes[collection as keyof typeof shapes]
    return shape !== undefined && conforms(shape, damaged)
  }

  const isFree = (one: MalformedCase, damaged: Document): boolean => {
    if (one.collection in unshaped) return true
    if (!isRight(one, damaged)) return false
    return Object.keys(free).some((field) => fieldOf(one).startsWith(field))
  }
})
