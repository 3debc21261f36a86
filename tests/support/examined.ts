import type { Db, Document } from 'mongodb'
import type { RecordedCommand } from './mongo.ts'

/**
 * The keys and documents that one command examined, including its `$lookup` and `$unionWith`
 * stages.
 */
export interface Examined {
  keys: number
  docs: number
}

/** Explains a recorded read. */
export async function examinedFor(db: Db, { command }: RecordedCommand): Promise<Examined> {
  const { lsid, $db, $clusterTime, $readPreference, readConcern, writeConcern, ...bare } = command
  const plan = await db.command({ explain: bare, verbosity: 'executionStats' })
  const examined = { keys: 0, docs: 0 }
  addPlan(plan, examined)
  return examined
}

function addPlan(plan: Document, to: Examined): void {
  addStats(plan.executionStats ?? {}, to)
  for (const stage of plan.stages ?? []) {
    addStats(stage, to)
    addStats(stage.$cursor?.executionStats ?? {}, to)
    const united = stage.$unionWith?.pipeline
    if (united) addPlan(Array.isArray(united) ? { stages: united } : united, to)
  }
}

function addStats(stats: Document, to: Examined): void {
  to.keys += Number(stats.totalKeysExamined ?? 0)
  to.docs += Number(stats.totalDocsExamined ?? 0)
}
