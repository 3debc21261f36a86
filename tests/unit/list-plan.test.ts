import fc from 'fast-check'
import { BSON } from 'mongodb'
import { describe, expect, test } from 'vitest'
import type { EngagementDoc } from '../../src/db/collections.ts'
import type { ObjectId } from '../../src/db/mongo.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { kinds } from '../../src/engagement/kinds.ts'
import type { ListLimits } from '../../src/engagement/list-limits.ts'
import {
  type ListChange,
  ListPlan,
  type ListState,
  sizeOf,
} from '../../src/engagement/list-plan.ts'
import { type EngagementId, timeIdAt } from '../../src/lib/ids.ts'

/** A list as documents hold it. */
interface Stored {
  embedded: EngagementDoc[]
  levels: Map<number, EngagementDoc[]>
  last: EngagementId | undefined
}

const placeOf = ({ place, _id }: EngagementDoc) => (place ?? _id).toHexString()

const entryOf = (at: number, actor: string, text?: string) => ({
  _id: toObjectId(timeIdAt<EngagementId>(1_700_000_000_000 + at, '000000000000')),
  actor,
  ...(text === undefined ? {} : { text }),
})

const bytesOf = (items: readonly EngagementDoc[]) =>
  items.reduce((sum, item) => sum + sizeOf(item), 0)

function stateOf({ embedded, levels, last }: Stored): ListState {
  const [number, items] = [...levels].at(-1) ?? []
  return {
    last,
    levels: levels.size,
    embedded: { count: embedded.length, bytes: bytesOf(embedded) },
    tail: items && { number: number as number, count: items.length, bytes: bytesOf(items) },
    stored: [
      ...embedded.map((entry) => ({ entry, level: undefined })),
      ...[...levels].flatMap(([level, all]) =>
        all.map((entry) => ({ entry, level: { number: level, count: all.length } })),
      ),
    ],
  }
}

/** Does to documents what a change says, and nothing more. */
function store(stored: Stored, change: ListChange): void {
  const less = (items: readonly EngagementDoc[], gone: readonly ObjectId[]) =>
    items.filter(({ _id }) => !gone.some((id) => id.equals(_id)))
  stored.embedded = [...less(stored.embedded, change.removes), ...change.adds]
  for (const { number, existed, count, adds, removes } of change.levels) {
    expect(stored.levels.has(number)).toBe(existed)
    const items = [...less(stored.levels.get(number) ?? [], removes), ...adds]
    expect(items).toHaveLength(count)
    if (count === 0) stored.levels.delete(number)
    else stored.levels.set(number, items)
  }
  stored.last = change.last
}

const limits = (threshold: number): ListLimits => ({
  threshold,
  capacity: 2,
  embeddedBytesMax: 2_000,
  levelBytesMax: 2_000,
})

describe.each([0, 1, 3])('with a threshold of %i', (threshold) => {
  test.each(['likes', 'comments'] as const)('planned %s equal a plain list', (kind) => {
    const rule = kinds[kind]
    const op = fc.record({ add: fc.boolean(), who: fc.nat(7), late: fc.boolean() })
    const histories = fc.array(fc.array(op, { minLength: 1, maxLength: 5 }), { maxLength: 12 })
    fc.assert(
      fc.property(histories, (batches) => {
        const stored: Stored = { embedded: [], levels: new Map(), last: undefined }
        const model: EngagementDoc[] = []
        let made = 0
        for (const batch of batches) {
          const levels = stored.levels.size
          const plan = new ListPlan(rule, limits(threshold), stateOf(stored))
          for (const { add, who, late } of batch) {
            const there = model.find(({ actor }) => actor === `u${who}`)
            if (add && (kind === 'comments' || !there)) {
              // Some are made late: after others that have a later id.
              const entry = entryOf(late ? made++ - 50 : made++, `u${who}`)
              expect(plan.add(entry)).toBeUndefined()
              model.push(entry)
            } else if (add) {
              expect(plan.add(entryOf(made, `u${who}`))?._id).toEqual(there?._id)
            } else if (there) {
              const key = kind === 'likes' ? there.actor : there._id.toHexString()
              expect(plan.remove(key)?._id).toEqual(there._id)
              model.splice(model.indexOf(there), 1)
            } else {
              expect(plan.remove(kind === 'likes' ? `u${who}` : 'f'.repeat(24))).toBeUndefined()
            }
          }
          const change = plan.change()
          if (change) store(stored, change)
          expect(stored.levels.size - levels).toBe(change?.levelsDelta ?? 0)
          const all = [...stored.embedded, ...[...stored.levels.values()].flat()]
          expect(all.map(({ _id }) => _id)).toEqual(model.map(({ _id }) => _id))
          const places = all.map(placeOf)
          expect(places).toEqual([...new Set(places)].sort())
          expect(stored.embedded.length).toBeLessThanOrEqual(threshold)
          for (const items of stored.levels.values()) {
            expect(items.length).toBeGreaterThan(0)
            expect(items.length).toBeLessThanOrEqual(2)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})

test('a list overflows by bytes as well as by count', () => {
  const text = 'x'.repeat(900)
  const stored: Stored = { embedded: [], levels: new Map(), last: undefined }
  for (let at = 0; at < 6; at++) {
    const plan = new ListPlan(kinds.comments, { ...limits(100), capacity: 100 }, stateOf(stored))
    plan.add(entryOf(at, 'ann', text))
    store(stored, plan.change() as ListChange)
  }
  expect(stored.embedded).toHaveLength(2)
  expect([...stored.levels.values()].map((items) => items.length)).toEqual([2, 2])
})

test('a batch without changes writes nothing', () => {
  const entry = entryOf(1, 'ann')
  const plan = new ListPlan(
    kinds.likes,
    limits(3),
    stateOf({ embedded: [entry], levels: new Map(), last: undefined }),
  )
  expect(plan.add(entryOf(2, 'ann'))).toEqual(entry)
  expect(plan.remove('bob')).toBeUndefined()
  expect(plan.change()).toBeUndefined()
})

test.each([[], [900], [9, 10]])(
  'an entry with facets at %j takes no more bytes than planned',
  (...at) => {
    const facets = at.map((start) => ({ kind: 'MENTION' as const, start, end: start + 1 }))
    const entry = { ...entryOf(1, 'ann', 'é'.repeat(100)), facets }
    const items = Array.from({ length: 1_000 }, () => ({ ...entry, place: entry._id }))
    const bytes = BSON.calculateObjectSize({ items })
    expect(bytes).toBeLessThanOrEqual(1_000 * sizeOf(entry))
  },
)
