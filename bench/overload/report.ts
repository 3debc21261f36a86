import { formatSummary, quantile, summarize } from '../statistics.ts'
import { multiples, type OverloadResult, type OverloadRound } from './loads.ts'

type Print = (line: string) => void

/** Prints a row per load: median (least–most) of the rounds. */
export function printLoads(print: Print, rounds: readonly OverloadRound[]): void {
  print(
    '| load | offered/s | goodput/s | refused, % | accepted p50, ms | p99, ms | refused p50, ms | p99, ms | recovery, s |\n' +
      '|---|---|---|---|---|---|---|---|---|',
  )
  const capacities = rounds.map(({ capacity }) => capacity)
  print(`| closed loop | | ${formatSummary(summarize(capacities), 0)} | | | | | | |`)
  for (const [at, multiple] of multiples.entries()) {
    const format = (of: (load: OverloadResult) => number, digits = 0) => {
      const values = rounds.map(({ loads }) => of(loads[at] as OverloadResult))
      const measured = values.filter((value) => !Number.isNaN(value))
      return measured.length === 0 ? '–' : formatSummary(summarize(measured), digits)
    }
    const cells = [
      format(({ offered }) => offered),
      format(({ goodput }) => goodput),
      format(({ refusedShare }) => 100 * refusedShare),
      format(({ accepted }) => accepted.p50Ms),
      format(({ accepted }) => accepted.p99Ms),
      format(({ refused }) => refused.p50Ms, 1),
      format(({ refused }) => refused.p99Ms, 1),
      format(({ recoverySeconds }) => recoverySeconds, 2),
    ]
    print(`| ${multiple} × capacity | ${cells.join(' | ')} |`)
  }
}

/**
 * Prints the processor time of a request in each server, and by how much the first server's is
 * higher.
 */
export function printProcessorTimes(
  print: Print,
  times: readonly Readonly<Record<string, number>>[],
): void {
  const [first = '', ...others] = Object.keys(times[0] ?? {})
  const medianUs = (name: string) => quantile(valuesOf(times, name), 0.5).toFixed(0)
  print(`processor time of a request, median of ${times.length} turns: ${medianUs(first)} µs`)
  for (const other of others) {
    const ratios = times.map((us) => (us[first] ?? Number.NaN) / (us[other] ?? Number.NaN))
    const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => quantile(ratios, q).toFixed(2))
    print(`${other}: ${medianUs(other)} µs, ratio ${middle} (quartiles ${low}–${high})`)
  }
}

const valuesOf = (times: readonly Readonly<Record<string, number>>[], name: string) =>
  times.map((us) => us[name] ?? Number.NaN)
