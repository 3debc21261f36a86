import type { Document } from 'mongodb'
import { type CollectionName, catalogue } from '../../src/db/collections.ts'
import type { RecordedCommand } from './mongo.ts'

const collections = catalogue('collection')
const reads = new Set(['find', 'aggregate', 'distinct', 'count'])
const ofTransactions = new Set(['commitTransaction', 'abortTransaction'])

/** A short name of a command: its verb and its collections. */
export function labelOf(sent: RecordedCommand): string {
  const joined = lookupsOf(sent).map(({ from }) => from)
  // The list of one owner needs a find, the lists of many owners need a join. Both are one command.
  if (joined.length > 0) return `read ${joined.join(', ')}`
  const name = ['find', 'aggregate'].includes(sent.name) ? 'read' : sent.name
  return sent.collection ? `${name} ${sent.collection}` : name
}

/** The labels of commands, sorted, since concurrent commands have no order. */
export const labelsOf = (commands: readonly RecordedCommand[]): string[] =>
  commands.map(labelOf).sort()

/** Reads that ask all shards on purpose: whose deliveries wait is not known. Jobs wait for moments only. */
const broadcasts: ReadonlySet<string> = new Set([
  'read outbox',
  'read outbox, outbox, following, restrictions, user_stats',
])

/** Why a sharded cluster must send a command to all shards. Undefined: the command names its shards. */
export function shardProblemOf(sent: RecordedCommand): string | undefined {
  if (ofTransactions.has(sent.name)) return undefined
  const joined = lookupsOf(sent)
  if (joined.length > 0) {
    if (broadcasts.has(labelOf(sent))) return undefined
    const spread = joined.find((lookup) => {
      const [field] = shardKeyOf(lookup.from)
      const [first] = lookup.pipeline ?? []
      return field && lookup.foreignField !== field && !has(field)(first?.$match ?? {})
    })
    return spread && `${labelOf(sent)} does not carry ${shardKeyOf(spread.from)}`
  }
  const key = shardKeyOf(sent.collection)
  if (key.length === 0) return undefined
  const problem = `${labelOf(sent)} does not carry ${key}`
  // A getMore goes only to the shards of its cursor.
  if (sent.name === 'getMore') return undefined
  const wholes = [...(sent.command.documents ?? [])] as Document[]
  if (!wholes.every((document) => key.every((field) => has(field)(document)))) return problem
  const filters = filtersOf(sent)
  if (wholes.length + filters.length === 0) return `${labelOf(sent)} is unknown to this check`
  return filters.every((filter) => alternativesOf(filter).every(has(key[0]))) ? undefined : problem
}

/** Whether a read has no time limit. */
export const isUnboundedRead = ({ name, command }: RecordedCommand): boolean =>
  reads.has(name) && !(command.maxTimeMS > 0)

const shardKeyOf = (collection: string | undefined): string[] =>
  Object.keys(collections[collection as CollectionName]?.shardKey ?? {})

const lookupsOf = ({ command }: RecordedCommand): Document[] =>
  (command.pipeline ?? []).flatMap(({ $lookup }: Document) => $lookup ?? [])

function filtersOf({ command }: RecordedCommand): Document[] {
  const { filter, query, pipeline, updates = [], deletes = [] } = command
  const written = [...updates, ...deletes].map(({ q }: Document) => q as Document)
  return [filter, query, pipeline?.[0]?.$match, ...written].filter((one) => one !== undefined)
}

const alternativesOf = (filter: Document): Document[] => filter.$or ?? [filter]

/** Whether a filter names a field, by its path or within the whole `_id`. */
const has = (field: string | undefined) => (filter: Document) =>
  field !== undefined &&
  (field in filter || (field.startsWith('_id.') && field.slice(4) in (filter._id ?? {})))
