import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSlow, type Journal, type ViolationKind, violationKinds } from './journal.ts'
import type { FaultKind, Options } from './options.ts'

/** The longest that one HTTP request may take, in seconds. */
const slowestSeconds = (kind: FaultKind) => (isSlow(kind) ? 20 : 10)

type Figures = Readonly<Record<ViolationKind, number>> & {
  readonly faults: number
  readonly acknowledged: number
  readonly longestStallSeconds: number
  readonly slowestOperationSeconds: number
}

/** The result of a run. */
export interface Report extends Figures {
  readonly seed: number
  readonly seconds: number
  /** Pages read during faults and whole timelines walked at rest. */
  readonly timelines: number
  /** Stored entries that no reader sees, at the end. */
  readonly leftovers: number
  /** How often clients met each error code. */
  readonly codes: Readonly<Record<string, number>>
  readonly byKind: Readonly<Partial<Record<FaultKind, Figures>>>
  /** The bounds that were broken; none for a run that passed. */
  readonly broken: readonly string[]
}

/** Puts the figures of a run together and compares them with the bounds. */
export function reportOf(journal: Journal, { seed }: Options): Report {
  const byKind = Object.fromEntries(
    [...journal.tallies].map(([kind, tally]) => [
      kind,
      { ...violationsOf(journal, kind), ...inSeconds(tally) },
    ]),
  ) as Report['byKind']
  const all = Object.values(byKind)
  const sum = (of: (one: Figures) => number) => all.reduce((total, one) => total + of(one), 0)
  const most = (of: (one: Figures) => number) => Math.max(0, ...all.map(of))
  const violations = violationsOf(journal)
  const slow = Object.entries(byKind).flatMap(([kind, { slowestOperationSeconds }]) =>
    slowestOperationSeconds > slowestSeconds(kind as FaultKind)
      ? [`slowestOperationSeconds ${slowestOperationSeconds} under ${kind}`]
      : [],
  )
  return {
    seed,
    seconds: seconds(performance.now() - journal.startMs),
    faults: sum((one) => one.faults),
    acknowledged: sum((one) => one.acknowledged),
    ...violations,
    timelines: journal.timelines,
    leftovers: journal.leftovers,
    longestStallSeconds: most((one) => one.longestStallSeconds),
    slowestOperationSeconds: most((one) => one.slowestOperationSeconds),
    codes: Object.fromEntries(journal.codes),
    byKind,
    broken: [
      ...violationKinds.flatMap((kind) =>
        violations[kind] > 0 ? [`${kind} ${violations[kind]}`] : [],
      ),
      ...slow,
    ],
  }
}

/** Writes every fault and violation into a file. @returns its path. */
export async function writeDetails(journal: Journal, report: Report): Promise<string> {
  const folder = join(import.meta.dirname, '../test-results')
  await mkdir(folder, { recursive: true })
  const file = join(folder, `faults-${report.seed}.json`)
  const faults = journal.windows.map(({ kind, detail, startMs, healedMs }) => ({
    kind,
    detail,
    atMs: Math.round(startMs - journal.startMs),
    healedMs: healedMs === undefined ? undefined : Math.round(healedMs - journal.startMs),
  }))
  const { violations, logs } = journal
  const messages = Object.fromEntries(journal.messages)
  await writeFile(
    file,
    `${JSON.stringify({ report, messages, faults, violations, logs }, undefined, 2)}\n`,
  )
  return file
}

function violationsOf(journal: Journal, fault?: FaultKind): Record<ViolationKind, number> {
  const counts = violationKinds.map((kind) => [kind, journal.count(kind, fault)])
  return Object.fromEntries(counts) as Record<ViolationKind, number>
}

function inSeconds(tally: {
  readonly faults: number
  readonly acknowledged: number
  readonly longestStallMs: number
  readonly slowestOperationMs: number
}) {
  return {
    faults: tally.faults,
    acknowledged: tally.acknowledged,
    longestStallSeconds: seconds(tally.longestStallMs),
    slowestOperationSeconds: seconds(tally.slowestOperationMs),
  }
}

const seconds = (ms: number) => Math.round(ms / 10) / 100
