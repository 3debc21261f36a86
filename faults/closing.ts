/** Closes what a run opened, in the reverse order, once. */
export class Closing {
  private readonly parts: (() => void | Promise<void>)[] = []
  private closed: Promise<void> | undefined

  /** Has `close` called at the end. What is added later than that is closed at once. */
  add(close: () => void | Promise<void>): void {
    if (this.closed !== undefined) void close()
    else this.parts.push(close)
  }

  /** Resolves when everything is closed, however often it is called. */
  close(): Promise<void> {
    this.closed ??= this.closeAll()
    return this.closed
  }

  private async closeAll(): Promise<void> {
    for (const close of this.parts.reverse()) await close()
  }
}
