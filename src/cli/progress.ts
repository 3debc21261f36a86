import { SingleBar } from 'cli-progress'
import type { ImportProgress } from '../imports/import-graph.ts'

/** How often a line tells of the progress where there is no terminal, in milliseconds. */
const lineEveryMs = 5_000

/** Shows on stderr how far something has come. */
export interface ProgressDisplay extends Disposable {
  update(progress: ImportProgress): void
}

/**
 * A bar where stderr is a terminal, a line every 5 s where it is not.
 * @param what names what is written, e.g. `edges`.
 */
export function showProgress(what: string): ProgressDisplay {
  return process.stderr.isTTY ? bar(what) : lines(what)
}

function bar(what: string): ProgressDisplay {
  const format = `${what} {bar} {percentage}% | {written} written, {rate}/s | {eta_formatted} left`
  const shown = new SingleBar({
    format,
    stream: process.stderr,
    hideCursor: true,
    gracefulExit: false,
  })
  const startedAt = performance.now()
  shown.start(1, 0, { written: 0, rate: 0 })
  return {
    update: ({ done, total, written }) => {
      shown.setTotal(total)
      shown.update(done, { written, rate: perSecond(written, performance.now() - startedAt) })
    },
    [Symbol.dispose]: () => shown.stop(),
  }
}

function lines(what: string): ProgressDisplay {
  const startedAt = performance.now()
  let saidAt = startedAt
  return {
    update: ({ done, total, written }) => {
      const now = performance.now()
      if (now - saidAt < lineEveryMs) return
      saidAt = now
      const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
      const rate = perSecond(written, now - startedAt)
      process.stderr.write(`${what}: ${percent} %, ${written} written, ${rate}/s\n`)
    },
    [Symbol.dispose]: () => {},
  }
}

/** @returns whole things per second; 0 where nothing took no time. */
export const perSecond = (count: number, ms: number): number =>
  count === 0 ? 0 : Math.round((count * 1000) / Math.max(ms, 1))
