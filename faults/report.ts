import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { holdsRequests, type Journal, type ViolationKind, violationKinds } from './journal.ts'
import type { FaultKind, Options } from './options.ts'

/** The maximum duration of one HTTP request, in seconds. */
const maxRequestSeconds = (kind: FaultKind) => (holdsRequests(kind) ? 20 : 10)

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
  /** The number of pages read during faults plus the number of whole timelines read at rest. */
  readonly timelines: number
  /** The number of errors that clients received, by code. */
  readonly codes: Readonly<Record<string, number>>
  readonly byKind: Readonly<Partial<Record<FaultKind, Figures>>>
  /** The figures out of bounds. Empty if the run passed. */
  readonly broken: readonly string[]
}

/** Creates the report of a run and compares its figures with their bounds. */
export function createReport(journal: Journal, { seed }: Options): Report {
  const byKind = Object.fromEntries(
    [...journal.tallies].map(([kind, tally]) => [
      kind,
      { ...countViolationsByKind(journal, kind), ...inSeconds(tally) },
    ]),
  ) as Report['byKind']
  const all = Object.values(byKind)
  const sum = (figure: (figures: Figures) => number) =>
    all.reduce((total, figures) => total + figure(figures), 0)
  const max = (figure: (figures: Figures) => number) => Math.max(0, ...all.map(figure))
  const violations = countViolationsByKind(journal)
  const slow = Object.entries(byKind).flatMap(([kind, { slowestOperationSeconds }]) =>
    slowestOperationSeconds > maxRequestSeconds(kind as FaultKind)
      ? [`slowestOperationSeconds ${slowestOperationSeconds} under ${kind}`]
      : [],
  )
  return {
    seed,
    seconds: seconds(performance.now() - journal.startMs),
    faults: sum((figures) => figures.faults),
    acknowledged: sum((figures) => figures.acknowledged),
    ...violations,
    timelines: journal.timelines,
    longestStallSeconds: max((figures) => figures.longestStallSeconds),
    slowestOperationSeconds: max((figures) => figures.slowestOperationSeconds),
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

/** Writes all faults and violations to a file. @returns its path. */
export async function writeDetails(journal: Journal, report: Report): Promise<string> {
  const folder = join(import.meta.dirname, '../test-results')
  await mkdir(folder, { recursive: true })
  const file = join(folder, `faults-${report.seed}.json`)
  const faults = journal.faultWindows.map(({ kind, detail, startMs, healedMs }) => ({
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

function countViolationsByKind(journal: Journal, fault?: FaultKind): Record<ViolationKind, number> {
  const counts = violationKinds.map((kind) => [kind, journal.countViolations(kind, fault)])
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
