/** Cuts `items` into chunks of at most `size`, in order. */
export function* chunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/**
 * Cuts the items of a source into batches of at most `size`, in order. Holds one batch at a time.
 */
export async function* batches<T>(
  source: AsyncIterable<T> | Iterable<T>,
  size: number,
): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of source) {
    batch.push(item)
    if (batch.length >= size) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/**
 * Takes the next item of a source while the caller works with the last one. Holds two items. An
 * error of the source is thrown in its place of the order.
 */
export async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    let next = source.next()
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = source.next()
      // Thrown at the next await.
      next.catch(() => {})
      yield value
    }
  } finally {
    await source.return(undefined)
  }
}

/** Groups items by a key, keeping their order. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/**
 * Splits items, in their order, into few batches in which no two items share a name: each is in the
 * batch after the last one that has any of its names.
 */
export function splitApart<T>(
  items: readonly T[],
  namesOf: (item: T) => readonly string[],
): readonly (readonly T[])[] {
  const batches: T[][] = []
  const next = new Map<string, number>()
  for (const item of items) {
    const names = namesOf(item)
    const at = Math.max(0, ...names.map((name) => next.get(name) ?? 0))
    for (const name of names) next.set(name, at + 1)
    const batch = batches[at]
    if (batch) batch.push(item)
    else batches[at] = [item]
  }
  return batches
}
