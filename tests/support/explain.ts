import type { Db, Document } from 'mongodb'
import type { RecordedCommand } from './mongo.ts'

/** How the server would run one statement. */
export interface Explained {
  /** Stages that read a collection without bounds. */
  readonly scans: readonly string[]
  /** Stages that sort in memory. */
  readonly sorts: readonly string[]
  /** Index keys and documents that were looked at, whichever are more; `$lookup` stages included. */
  readonly examined: number
  /** Documents that were found, changed or deleted, those that `$lookup` stages joined included. */
  readonly returned: number
}

/** Rows of a join that are counted: more than any page has owners. */
const rowsMax = 1_000
const explainable = new Set(['find', 'aggregate', 'distinct', 'count', 'findAndModify'])
/** What belongs to a session or a write as a whole: `explain` takes none of it. */
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

/** What `explain` takes of a command: an update or delete for each statement; nothing for an insert, which finds nothing. */
export function statementsOf({ name, command }: RecordedCommand): Document[] {
  const bare = Object.fromEntries(
    Object.entries(command).filter(([field]) => !unexplained.includes(field)),
  )
  const list = { update: 'updates', delete: 'deletes' }[name]
  if (list) return (command[list] as Document[]).map((one) => ({ ...bare, [list]: [one] }))
  return explainable.has(name) ? [bare] : []
}

/** Runs a statement's plan, without its writes. One command; where it joins, one more that counts what is joined. */
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

type Found = {
  -readonly [Key in keyof Explained]: Explained[Key] extends number ? number : string[]
}

function add(found: Found, { executionStats }: Document, statement: Document): void {
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

function addLookup(found: Found, stage: Document): void {
  if (Number(stage.collectionScans) > 0) found.scans.push(`$lookup from ${stage.$lookup.from}`)
  found.examined += Math.max(Number(stage.totalKeysExamined), Number(stage.totalDocsExamined))
}

const lookupsOf = ({ pipeline = [] }: Document): Document[] =>
  pipeline.flatMap(({ $lookup }: Document) => $lookup ?? [])

/** How many documents a row holds in its lists. */
const joinedIn = (row: Document): number =>
  Object.values(row)
    .filter(Array.isArray)
    .reduce((sum, list) => sum + list.length, 0)

/** The collection that a statement is about: the value of its first field. */
const collectionOf = (statement: Document) => String(Object.values(statement)[0])

/** A plan's stage and all below it. */
function stagesOf(stage: Document): Document[] {
  const below = [stage.inputStage, ...(stage.inputStages ?? []), stage.queryPlan, stage.innerStage]
  return [stage, ...below.filter((one) => one?.stage).flatMap(stagesOf)]
}
