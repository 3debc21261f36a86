import type { Db, Document } from 'mongodb'
import type { RecordedCommand } from '../../support/mongo.ts'

/** The plan of the server for one statement. */
export interface Explained {
  /** Stages that read a collection without bounds. */
  readonly scans: readonly string[]
  /** Stages that sort in memory. */
  readonly sorts: readonly string[]
  /** Examined index keys or documents, the larger number, including `$lookup` stages. */
  readonly examined: number
  /** Found, changed or deleted documents, including documents that `$lookup` stages joined. */
  readonly returned: number
}

/** The most counted rows of a join, more than the owners of any page. */
const rowsMax = 1_000
const explainable = new Set(['find', 'aggregate', 'distinct', 'count', 'findAndModify'])
/** Fields of a session or a whole write, which `explain` does not accept. */
const unexplained = [
  'lsid',
  '$db',
  '$clusterTime',
  '$readPreference',
  'readConcern',
  'writeConcern',
  'txnNumber',
  'startTransaction',
  'autocommit',
  'maxTimeMS',
  'ordered',
  'bypassDocumentValidation',
]

/**
 * The statements of a command in the form of `explain`: each update or delete by itself, and no
 * insert.
 */
export function statementsOf({ name, command }: RecordedCommand): Document[] {
  const bare = Object.fromEntries(
    Object.entries(command).filter(([field]) => !unexplained.includes(field)),
  )
  const list = { update: 'updates', delete: 'deletes' }[name]
  if (list) return (command[list] as Document[]).map((one) => ({ ...bare, [list]: [one] }))
  return explainable.has(name) ? [bare] : []
}

/**
 * Runs a statement's plan without its writes. One command, and one more for a join, which counts
 * joined documents.
 */
export async function explained(db: Db, statement: Document): Promise<Explained> {
  const answer = await db.command({ explain: statement, verbosity: 'executionStats' })
  const found = { scans: [] as string[], sorts: [] as string[], examined: 0, returned: 0 }
  add(found, answer, statement)
  for (const stage of answer.stages ?? []) {
    if (stage.$cursor) add(found, stage.$cursor, statement)
    if (stage.$sort) found.sorts.push('$sort')
    if (stage.$lookup) addLookup(found, stage)
  }
  if (lookupsOf(statement).length > 0) {
    const { cursor } = await db.command({ ...statement, cursor: { batchSize: rowsMax } })
    found.returned += cursor.firstBatch.map(joinedIn).reduce((a: number, b: number) => a + b, 0)
  }
  return found
}

type PlanCounts = {
  -readonly [Key in keyof Explained]: Explained[Key] extends number ? number : string[]
}

function add(found: PlanCounts, { executionStats }: Document, statement: Document): void {
  if (!executionStats) return
  const { executionStages, totalKeysExamined, totalDocsExamined, nReturned } = executionStats
  found.examined += Math.max(totalKeysExamined, totalDocsExamined)
  let changed = 0
  for (const stage of stagesOf(executionStages)) {
    const bounded = stage.minRecord !== undefined && stage.maxRecord !== undefined
    if (stage.stage === 'COLLSCAN' || (stage.stage === 'CLUSTERED_IXSCAN' && !bounded)) {
      found.scans.push(`${stage.stage} of ${collectionOf(statement)}`)
    }
    if (stage.stage === 'SORT') found.sorts.push('SORT')
    changed += Number(stage.nMatched ?? stage.nWouldDelete ?? 0)
  }
  found.returned += Math.max(nReturned, changed)
}

function addLookup(found: PlanCounts, stage: Document): void {
  if (Number(stage.collectionScans) > 0) found.scans.push(`$lookup from ${stage.$lookup.from}`)
  found.examined += Math.max(Number(stage.totalKeysExamined), Number(stage.totalDocsExamined))
}

const lookupsOf = ({ pipeline = [] }: Document): Document[] =>
  pipeline.flatMap(({ $lookup }: Document) => $lookup ?? [])

/** The number of documents in the lists of a row. */
const joinedIn = (row: Document): number =>
  Object.values(row)
    .filter(Array.isArray)
    .reduce((sum, list) => sum + list.length, 0)

/** The collection of a statement: the value of its first field. */
const collectionOf = (statement: Document) => String(Object.values(statement)[0])

/** A stage of a plan and all stages below it. */
function stagesOf(stage: Document): Document[] {
  const below = [stage.inputStage, ...(stage.inputStages ?? []), stage.queryPlan, stage.innerStage]
  return [stage, ...below.filter((one) => one?.stage).flatMap(stagesOf)]
}
