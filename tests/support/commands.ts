import type { Document } from 'mongodb'
import { broadcasts } from './broadcasts.ts'
import type { RecordedCommand } from './mongo.ts'
import { routingProblems } from './routing.ts'

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

/**
 * Why a sharded cluster must send a command to all shards. Undefined: it names its shards, or is a
 * listed broadcast.
 */
export function shardProblemOf({ name, command }: RecordedCommand): string | undefined {
  // A getMore goes only to the shards of its cursor.
  if (ofTransactions.has(name) || name === 'getMore') return undefined
  const problem = routingProblems({
    statement: command,
    inTransaction: command.autocommit === false,
  })
    .filter(({ kind, collection }) => {
      const isListed = broadcasts.some(
        (row) => row.collection === collection && row.command === name,
      )
      return kind === 'refused' || !isListed
    })
    .at(0)
  return problem && `${name} ${problem.collection}: ${problem.kind}: ${problem.why}`
}

/** Whether a read has no time limit. */
export const isUnboundedRead = ({ name, command }: RecordedCommand): boolean =>
  reads.has(name) && !(command.maxTimeMS > 0)

const lookupsOf = ({ command }: RecordedCommand): Document[] =>
  (command.pipeline ?? []).flatMap(({ $lookup }: Document) => $lookup ?? [])
