/** A row with the fields of one key. */
export interface Keyed {
  readonly key: string
}

/**
 * Merges the rows of several sources that have the same key, in the order of keys. Each source must be sorted by key
 * and hold each key once. Holds one row of each source.
 */
export async function* mergeJoin<Row extends Keyed>(
  sources: readonly AsyncIterable<Row>[],
): AsyncGenerator<Row> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  try {
    const heads: IteratorResult<Row>[] = []
    // In sequence: a transaction takes one command at a time.
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
