import { SingleBar } from 'cli-progress'

/** The time between two progress lines without a terminal, in milliseconds. */
const lineEveryMs = 5_000

/** The progress of a command. */
export interface Progress {
  readonly done: number
  readonly total: number
  /** The count to show, if it differs from `done`. */
  readonly written?: number
}

/** Shows progress on stderr. */
export interface ProgressDisplay extends Disposable {
  update(progress: Progress): void
}

/**
 * Shows a bar if stderr is a terminal, otherwise a line every 5 s.
 * @param what the counted things, e.g. `edges`.
 * @param verb the participle in the text, e.g. `written`.
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

/** Shows the parts of a run in sequence, each in its own display. */
export class PartDisplays implements Disposable {
  private shown: { readonly part: string; readonly display: ProgressDisplay } | undefined

  /** @param verb the participle in the text, e.g. `checked`. */
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

/** @returns the rate per second, rounded; 0 if `count` is 0. */
export const perSecond = (count: number, ms: number): number =>
  count === 0 ? 0 : Math.round((count * 1000) / Math.max(ms, 1))
