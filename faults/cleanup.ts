/** Closes the resources of a run once, in reverse order. */
export class Cleanup {
  private readonly steps: (() => void | Promise<void>)[] = []
  private closed: Promise<void> | undefined

  /**
   * Adds a resource. `close` is called by {@link Cleanup.close}, or immediately if the cleanup has
   * already started.
   */
  add(close: () => void | Promise<void>): void {
    if (this.closed !== undefined) void close()
    else this.steps.push(close)
  }

  /** Closes all resources. A repeat waits for the first call. */
  close(): Promise<void> {
    this.closed ??= this.closeAll()
    return this.closed
  }

  private async closeAll(): Promise<void> {
    for (const close of this.steps.reverse()) await close()
  }
}
