import type { Collections } from '../db/collections.ts'
import type { Collection } from '../db/mongo.ts'

/** Accounts walked at a time. */
const accountsAtOnce = 1_000

/** A part of all handles that there can be, whether they have an account or not. */
export interface HandleRange {
  readonly after: string
  /** Undefined: to the end. */
  readonly upTo: string | undefined
}

/** A range as a condition on the field that holds the handle. */
export const within = ({ after, upTo }: HandleRange) => ({
  $gt: after,
  ...(upTo === undefined ? {} : { $lte: upTo }),
})

/** Cuts all handles, from one on, into ranges of so many accounts, in order. One covered command each. */
export async function* handleRanges(
  users: Collections['users'],
  size = accountsAtOnce,
  from = '',
): AsyncGenerator<HandleRange> {
  let after = from
  for await (const upTo of ends(users as unknown as Collection, size, from)) {
    yield { after, upTo }
    after = upTo ?? after
  }
}

/**
 * Every so many-th `_id` of a collection, in order, from one on; undefined at last, where fewer are left. One covered
 * command each.
 */
export async function* ends<Id>(
  collection: Collection,
  size: number,
  from: Id,
): AsyncGenerator<Id | undefined> {
  for (let after = from; ; ) {
    const [last] = await collection
      .find({ _id: { $gt: after } } as object, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .skip(size - 1)
      .limit(1)
      .toArray()
    const upTo = last?._id as Id | undefined
    yield upTo
    if (upTo === undefined) return
    after = upTo
  }
}

/** Something said of a key. */
export interface Keyed {
  readonly key: string
}

/**
 * Joins what several sources, each of which rises by its key and has each once, say of the same key, in order.
 * Holds one item of each source.
 */
export async function* aligned<Row extends Keyed>(
  sources: readonly AsyncIterable<Row>[],
): AsyncGenerator<Row> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  try {
    const heads: IteratorResult<Row>[] = []
    // One after the other: commands of one transaction must not begin together.
    for (const iterator of iterators) heads.push(await iterator.next())
    for (;;) {
      const rows = heads.flatMap(({ done, value }): Row[] => (done ? [] : [value]))
      const [first, ...rest] = rows.map(({ key }) => key)
      if (first === undefined) return
      const key = rest.reduce((least, other) => (other < least ? other : least), first)
      const row = Object.assign({}, ...rows.filter((one) => one.key === key))
      for (const [at, iterator] of iterators.entries()) {
        const head = heads[at]
        if (head && !head.done && head.value.key === key) heads[at] = await iterator.next()
      }
      yield row
    }
  } finally {
    for (const iterator of iterators) await iterator.return?.()
  }
}
