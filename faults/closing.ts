/** Closes what a run opened, in the reverse order. Each part closes at once. */
export class Closing {
  private readonly parts: (() => void | Promise<void>)[] = []

  add(close: () => void | Promise<void>): void {
    this.parts.push(close)
  }

  async close(): Promise<void> {
    for (let part = this.parts.pop(); part; part = this.parts.pop()) await part()
  }
}
