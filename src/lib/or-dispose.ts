/**
 * The result of `start`, which begins to use `resource`. If `start` fails, the resource is disposed
 * of.
 */
export async function orDispose<T>(resource: AsyncDisposable, start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    await resource[Symbol.asyncDispose]()
    throw error
  }
}
