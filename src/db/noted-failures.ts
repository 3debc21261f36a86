/** Notes the errors of some collections, to distinguish them from errors of other collections. */
export class NotedFailures {
  private readonly errors = new WeakSet<object>()

  note(error: unknown): void {
    if (error instanceof Error) this.errors.add(error)
  }

  /** Whether an error, or the cause of it, was noted. */
  has(error: unknown): boolean {
    const seen = new Set<unknown>()
    for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
      if (this.errors.has(each)) return true
      seen.add(each)
    }
    return false
  }

  /** The same object, for example a collection or a cursor, with its errors noted. */
  watch<T extends object>(target: T): T {
    const watched: T = new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const result: unknown = value.apply(target, args)
          return result === target ? watched : this.watchResult(result)
        }
      },
    })
    return watched
  }

  private watchResult(result: unknown): unknown {
    if (result instanceof Promise) {
      return result.catch((error: unknown) => {
        this.note(error)
        throw error
      })
    }
    return isCursor(result) ? this.watch(result) : result
  }
}

const isCursor = (result: unknown): result is object =>
  typeof result === 'object' && result !== null && ('toArray' in result || 'next' in result)
