/**
 * A call that concurrent callers share. Its result is also given to callers until `keepMs`
 * milliseconds after it, so a flood of callers causes a bounded number of calls.
 */
export function shared<T>(keepMs: number, call: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined
  let keptUntil = Number.POSITIVE_INFINITY
  return () => {
    if (last && performance.now() < keptUntil) return last
    keptUntil = Number.POSITIVE_INFINITY
    const begun = call().finally(() => {
      if (last === begun) keptUntil = performance.now() + keepMs
    })
    last = begun
    return begun
  }
}
