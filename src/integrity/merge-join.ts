/** A row with the fields of one key. */
export interface Keyed {
  readonly key: string
}

/**
 * Merges the rows of several sources that have the same key, in the order of keys. Each source must
 * be sorted by key and hold each key once. Holds one row of each source.
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
      let key: string | undefined
      for (const { done, value } of heads) {
        if (!done && (key === undefined || value.key < key)) key = value.key
      }
      if (key === undefined) return
      let row: Row | undefined
      for (const [at, iterator] of iterators.entries()) {
        const head = heads[at]
        if (!head || head.done || head.value.key !== key) continue
        row = row ? { ...row, ...head.value } : head.value
        heads[at] = await iterator.next()
      }
      if (row) yield row
    }
  } finally {
    for (const iterator of iterators) await iterator.return?.()
  }
}
