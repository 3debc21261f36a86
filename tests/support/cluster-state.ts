import { BSON, type Document, MaxKey, MinKey } from 'mongodb'
import { type ClusterAnswers, toClusterState } from '../../packages/shard/cluster.ts'
import { type PlannedCommand, planSharding } from '../../packages/shard/plan.ts'
import { type CollectionName, type CollectionSpec, catalogue } from '../../src/db/collections.ts'

const specs = catalogue('collection')
const database = 'feedline'

/** A document of `config.tags`, with texts that sort as its bounds do. */
interface StoredRange {
  readonly from: string
  readonly to: string
  readonly tag: Document
}

/** What a cluster answers, changed by each command as the manual describes it. */
export class Cluster {
  private readonly zones = new Map<string, string[]>()
  private readonly indexes = new Map<string, Set<string>>()
  private sharded: Document[] = [{ _id: 'other.users', key: { handle: 1 } }]
  /** Stored ranges by the text of their begin, by namespace. */
  private readonly tags = new Map<string, Map<string, StoredRange>>()
  declared: Readonly<Record<string, CollectionSpec>> = specs
  /** Collections that MongoDB lists, but on one shard. */
  unsplittable: readonly string[] = []
  draining: string | undefined

  constructor(...shards: string[]) {
    for (const shard of shards) this.add(shard)
  }

  add(shard: string): void {
    this.zones.set(shard, [])
  }

  answers(): ClusterAnswers {
    const shards = [...this.zones].map(([_id, tags]) => ({
      _id,
      host: `${_id}/${_id}.example.net:27017`,
      state: 1,
      ...(tags.length > 0 ? { tags } : {}),
      ...(_id === this.draining ? { draining: true } : {}),
    }))
    const { indexes } = this
    const tags = [...this.tags.values()].flatMap((ranges) =>
      [...ranges.values()].map(({ tag }) => tag),
    )
    const onOne = this.unsplittable.map((name) => {
      return { _id: `${database}.${name}`, key: { _id: 1 }, unsplittable: true }
    })
    const sharded = [...onOne, ...this.sharded]
    return { listShards: { shards, ok: 1 }, sharded, tags, indexes }
  }

  plan(): PlannedCommand[] {
    return planSharding(database, this.declared, toClusterState(database, this.answers()))
  }

  /** Runs the first commands of the plan, by default all. */
  run(count = Number.POSITIVE_INFINITY): void {
    for (const planned of this.plan().slice(0, count)) this.apply(planned)
  }

  apply({ command }: PlannedCommand): void {
    const [verb, target] = Object.entries(command)[0] as [string, string]
    if (verb === 'addShardToZone') this.zones.get(target)?.push(command.zone)
    if (verb === 'create') this.indexes.set(target, new Set(['_id_']))
    if (verb === 'createIndexes') {
      for (const { name } of command.indexes) this.indexes.get(target)?.add(name)
    }
    if (verb === 'shardCollection') this.sharded.push({ _id: target, key: command.key })
    if (verb === 'updateZoneKeyRange') this.setRange(target, command)
  }

  private setRange(ns: string, { min, max, zone }: Document): void {
    const stored = this.tags.get(ns) ?? new Map<string, StoredRange>()
    this.tags.set(ns, stored)
    if (zone === null) {
      stored.delete(textOf(min))
      return
    }
    const [from, to] = [placeOf(min), placeOf(max)]
    if ([...stored.values()].some((range) => range.from < to && from < range.to)) {
      throw new Error(`overlap in ${ns}: ${textOf(min)}`)
    }
    if (![...this.zones.values()].flat().includes(zone)) throw new Error(`no shard has ${zone}`)
    stored.set(textOf(min), { from, to, tag: { ns, min, max, tag: zone } })
  }

  /** What an operator does: adds a shard to a zone. */
  join(shard: string, zone: string): void {
    this.apply({ database: 'admin', command: { addShardToZone: shard, zone } })
  }

  /** What an operator does: stores a range of `users`, or replaces its zone. */
  place(min: unknown, max: unknown, zone: string): void {
    const range = { updateZoneKeyRange: `${database}.users`, min: { _id: min }, max: { _id: max } }
    for (const each of [null, zone]) {
      this.apply({ database: 'admin', command: { ...range, zone: each } })
    }
  }

  /** The stored ranges of a collection, in order. */
  ranges(name: CollectionName): Document[] {
    const stored = this.tags.get(`${database}.${name}`) ?? new Map<string, StoredRange>()
    return [...stored.values()].sort((a, b) => (a.from < b.from ? -1 : 1)).map(({ tag }) => tag)
  }

  countsOf(name: CollectionName): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { tag } of this.ranges(name)) counts[tag] = (counts[tag] ?? 0) + 1
    return counts
  }
}

export const textOf = (value: unknown) => BSON.EJSON.stringify(value)

/**
 * A text that sorts as MongoDB compares a bound: MinKey, then documents field by field and texts by
 * their bytes, then MaxKey. Ids are ASCII.
 */
export const placeOf = (bound: unknown): string =>
  bound instanceof MinKey
    ? '\u0001'
    : bound instanceof MaxKey
      ? '\u007f'
      : typeof bound === 'string'
        ? `\u0002${bound}`
        : `\u0002${Object.values(bound as object)
            .map(placeOf)
            .join('\u0000')}`
