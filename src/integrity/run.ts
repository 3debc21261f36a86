import type { IntegrityServices, Run } from './invariant.ts'
import { Report } from './report.ts'

/**
 * Checks all invariants of a database, which may be in use, and writes nothing. Its memory is
 * bounded, but for the names in doubt. Reads every edge, event, post and entry, and reads suspects
 * again on one snapshot.
 * @param report updated during the run.
 * @throws {DomainError} UNAVAILABLE
 */
export const verify = (
  services: IntegrityServices,
  options: Pick<Run, 'readers' | 'signal'>,
  report = new Report(),
): Promise<Report> => check({ ...services, ...options, report, repair: false })

/**
 * As {@link verify}, and repairs every repairable violation. May be killed, repeated and run by
 * several processes at the same time: each repair checks again in its transaction, and no
 * difference is added twice (law L3).
 */
export const reconcile = (
  services: IntegrityServices,
  options: Pick<Run, 'readers' | 'signal'>,
  report = new Report(),
): Promise<Report> => check({ ...services, ...options, report, repair: true })

async function check(options: Omit<Run, 'malformed'>): Promise<Report> {
  const run: Run = { ...options, malformed: new Set() }
  for (const invariant of run.invariants) await invariant(run)
  return run.report
}
