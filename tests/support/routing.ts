import type { Document } from 'mongodb'
import { type CollectionName, type CollectionSpec, catalogue } from '../../src/db/collections.ts'

/** How a router of a sharded cluster passes on a command that does not name its shards. */
export interface RoutingProblem {
  readonly collection: string
  /** `broadcast`: all shards are asked. `refused`: MongoDB 6.0 answers with an error. */
  readonly kind: 'broadcast' | 'refused'
  readonly why: string
}

/** A statement as a client sends it, without what belongs to its session. */
export interface RoutedStatement {
  readonly statement: Document
  readonly inTransaction: boolean
}

const collections = catalogue('collection')
const specOf = (name: unknown): CollectionSpec | undefined => collections[name as CollectionName]
const keyOf = (name: unknown): string[] => Object.keys(specOf(name)?.shardKey ?? {})
const reads = ['find', 'count', 'distinct'] as const

/** All problems of a statement, by the rules of MongoDB's manual. None if it names its shards. */
export function routingProblems({ statement, inTransaction }: RoutedStatement): RoutingProblem[] {
  const [verb, target] = Object.entries(statement)[0] as [string, unknown]
  if (verb === 'aggregate') return ofPipeline(target, statement.pipeline, inTransaction)
  if (keyOf(target).length === 0) return []
  const problem = (kind: RoutingProblem['kind'], why: string): RoutingProblem[] => [
    { collection: target as string, kind, why },
  ]
  const key = keyOf(target)
  switch (verb) {
    case 'insert': {
      const whole = (statement.documents as Document[]).every((document) =>
        key.every((field) => valueAt(document, field) !== undefined),
      )
      return whole ? [] : problem('refused', 'an insert needs the whole shard key')
    }
    case 'findAndModify':
      return hasWholeKey(target, statement.query)
        ? []
        : problem('refused', 'findAndModify needs the whole shard key')
    case 'update':
    case 'delete': {
      const list = (statement.updates ?? statement.deletes) as Document[]
      return list.flatMap(({ q, multi, limit, upsert }) => {
        const isOne = verb === 'update' ? !multi : limit === 1
        if (upsert && !hasWholeKey(target, q))
          return problem('refused', 'an upsert needs the whole shard key')
        if (isOne && !hasWholeKey(target, q) && !isEqual(q, '_id'))
          return problem('refused', 'a write of one document needs the shard key or _id')
        return isPinned(target, q) ? [] : problem('broadcast', textOf(q))
      })
    }
    default: {
      if (!(reads as readonly string[]).includes(verb))
        return problem('refused', `unknown: ${verb}`)
      const filter = statement.filter ?? statement.query ?? {}
      return isPinned(target, filter) ? [] : problem('broadcast', textOf(filter))
    }
  }
}

/**
 * The problems of a pipeline and of those within it. A pipeline that brings its documents reads
 * none itself.
 */
function ofPipeline(target: unknown, stages: Document[], inTransaction: boolean): RoutingProblem[] {
  const [first] = stages
  const own =
    keyOf(target).length === 0 || isPinned(target, first?.$match ?? {})
      ? []
      : [{ collection: target as string, kind: 'broadcast' as const, why: textOf(first) }]
  return [...own, ...stages.flatMap((stage) => ofStage(stage, inTransaction))]
}

function ofStage(
  { $lookup, $unionWith, $facet }: Document,
  inTransaction: boolean,
): RoutingProblem[] {
  if ($unionWith) return ofPipeline($unionWith.coll, $unionWith.pipeline ?? [], inTransaction)
  if ($facet)
    return Object.values($facet).flatMap((each) => ofPipeline(1, each as Document[], inTransaction))
  if (!$lookup) return []
  const { from, foreignField, pipeline = [] } = $lookup
  const key = keyOf(from)
  const inside = pipeline.flatMap((stage: Document) => ofStage(stage, inTransaction))
  if (key.length === 0) return inside
  if (inTransaction) {
    return [
      { collection: from, kind: 'refused', why: '$lookup in a transaction needs MongoDB 8.0' },
    ]
  }
  const joined = foreignField === key[0]
  if (joined || isPinned(from, pipeline[0]?.$match ?? {})) return inside
  return [{ collection: from, kind: 'broadcast', why: textOf($lookup) }, ...inside]
}

/**
 * Whether a filter names the shards: by values of the key's first field, or by one range within one
 * handle.
 */
function isPinned(target: unknown, filter: Document): boolean {
  const { $or, $and } = filter
  if ($or && ($or as Document[]).every((one) => isPinned(target, one))) return true
  if (($and as Document[] | undefined)?.some((one) => isPinned(target, one))) return true
  const [field] = keyOf(target) as [string]
  if (isEqual(filter, field)) return true
  const condition = filter[field]
  if (Array.isArray(condition?.$in)) return true
  const { accountIn } = specOf(target) ?? {}
  if (typeof accountIn !== 'object' || !('within' in accountIn)) return false
  const [low, high] = [condition?.$gte ?? condition?.$gt, condition?.$lte ?? condition?.$lt]
  return low?.[accountIn.within] !== undefined && low[accountIn.within] === high?.[accountIn.within]
}

const hasWholeKey = (target: unknown, filter: Document): boolean =>
  keyOf(target).every((field) => isEqual(filter, field))

/** Whether a filter compares a field with one value, by its path or within the whole `_id`. */
function isEqual(filter: Document, field: string): boolean {
  const value = filter[field] ?? (field.startsWith('_id.') ? idPart(filter, field) : undefined)
  return value !== undefined && (!hasOperators(value) || '$eq' in value)
}

const idPart = ({ _id }: Document, field: string): unknown =>
  _id !== undefined && !hasOperators(_id) ? valueAt({ _id }, field) : undefined

const hasOperators = (value: unknown): value is Document =>
  typeof value === 'object' &&
  value?.constructor === Object &&
  Object.keys(value).some((name) => name.startsWith('$'))

const valueAt = (document: Document, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document)

const textOf = (value: unknown) => (JSON.stringify(value) ?? 'no filter').slice(0, 300)
