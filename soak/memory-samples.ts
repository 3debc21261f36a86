/** Samples of the memory of a process, one a second. */
export class MemorySamples {
  private readonly bytes: number[] = []
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly read: () => Promise<number>) {}

  start(): void {
    const sample = () =>
      this.read().then(
        (bytes) => this.bytes.push(bytes),
        // A process that stops answers no more.
        () => {},
      )
    this.timer = setInterval(sample, 1_000)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  get lastMegabytes(): number {
    return (this.bytes.at(-1) ?? 0) / 1e6
  }

  /** The mean of each third of the samples, in megabytes. */
  thirdsMegabytes(): number[] {
    const size = this.bytes.length / 3
    return [0, 1, 2].map((third) => {
      const part = this.bytes.slice(Math.round(third * size), Math.round((third + 1) * size))
      return Math.round(part.reduce((sum, bytes) => sum + bytes, 0) / part.length / 1e5) / 10
    })
  }
}
