import { SingleBar } from 'cli-progress'

/** How often a line tells of the progress where there is no terminal, in milliseconds. */
const lineEveryMs = 5_000

/** How far something has come. */
export interface Progress {
  readonly done: number
  readonly total: number
  /** What is counted, where that is not `done`. */
  readonly written?: number
}

/** Shows on stderr how far something has come. */
export interface ProgressDisplay extends Disposable {
  update(progress: Progress): void
}

/**
 * A bar where stderr is a terminal, a line every 5 s where it is not.
 * @param what names what is counted, e.g. `edges`.
 * @param verb what is done to it.
 */
export function showProgress(what: string, verb = 'written'): ProgressDisplay {
  return process.stderr.isTTY ? bar(what, verb) : lines(what, verb)
}

function bar(what: string, verb: string): ProgressDisplay {
  const format = `${what} {bar} {percentage}% | {count} ${verb}, {rate}/s | {eta_formatted} left`
  const shown = new SingleBar({
    format,
    stream: process.stderr,
    hideCursor: true,
    gracefulExit: false,
  })
  const startedAt = performance.now()
  shown.start(1, 0, { count: 0, rate: 0 })
  return {
    update: ({ done, total, written: count = done }) => {
      shown.setTotal(total)
      shown.update(done, { count, rate: perSecond(count, performance.now() - startedAt) })
    },
    [Symbol.dispose]: () => shown.stop(),
  }
}

function lines(what: string, verb: string): ProgressDisplay {
  const startedAt = performance.now()
  let saidAt = startedAt
  return {
    update: ({ done, total, written: count = done }) => {
      const now = performance.now()
      if (now - saidAt < lineEveryMs) return
      saidAt = now
      const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
      const rate = perSecond(count, now - startedAt)
      process.stderr.write(`${what}: ${percent} %, ${count} ${verb}, ${rate}/s\n`)
    },
    [Symbol.dispose]: () => {},
  }
}

/** One display for each part, one after the other. */
export class PartDisplays implements Disposable {
  private shown: { readonly part: string; readonly display: ProgressDisplay } | undefined

  /** @param verb what is done to them. */
  constructor(private readonly verb: string) {}

  readonly update = ({ part, ...progress }: Progress & { readonly part: string }): void => {
    if (this.shown?.part !== part) {
      this[Symbol.dispose]()
      this.shown = { part, display: showProgress(part, this.verb) }
    }
    this.shown.display.update(progress)
  };

  [Symbol.dispose](): void {
    this.shown?.display[Symbol.dispose]()
    this.shown = undefined
  }
}

/** @returns whole things per second; 0 where nothing took no time. */
export const perSecond = (count: number, ms: number): number =>
  count === 0 ? 0 : Math.round((count * 1000) / Math.max(ms, 1))
