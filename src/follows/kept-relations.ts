import { shareReads } from '../db/shared-reads.ts'
import { groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'
import { KeptValues } from '../memory/kept-values.ts'
import type { ProcessMemory } from '../memory/process-memory.ts'
import { isShown, type RestrictionKind } from '../visibility/rules.ts'
import type { Follows } from './follows.ts'
import type { KeptRestrictions } from './kept-restrictions.ts'

/** The users that a reader follows, and the mutes and blocks between the reader and others. */
export interface Relations {
  readonly followees: ReadonlySet<UserId>
  readonly restrictions: ReadonlyMap<UserId, ReadonlySet<RestrictionKind>>
  /** The followees whose posts are proposed for the reader's timeline. */
  readonly sources: readonly UserId[]
}

/** What is known about a reader. */
interface KnownReader {
  /** Undefined if there are too many. */
  readonly relations: Relations | undefined
}

/** The most followees, and the most restrictions, that are kept of a reader. */
const relationsMax = 5_000

/** The most readers that share a command, and the most followees that it reads. */
const [readersMax, sharedMax] = [16, 10_000]

/** The parts that {@link KeptRelations} works with. */
interface KeptRelationsParts {
  readonly memory: ProcessMemory
  readonly follows: Pick<Follows, 'followeesOfAll'>
  readonly keptRestrictions: Pick<KeptRestrictions, 'load'>
  readonly bytesMax: number
}

/**
 * The relations of readers in memory. Each change of them changes the counters or the guard of the
 * reader.
 */
export class KeptRelations {
  private readonly readers: KeptValues<KnownReader>
  private readonly readShared = shareReads(
    'relations',
    (readers: readonly UserId[]) => this.readAll([...new Set(readers)]),
    readersMax,
  )

  constructor(private readonly parts: KeptRelationsParts) {
    this.readers = new KeptValues({
      ...parts,
      name: 'relations',
      largestShare: 1 / 16,
      bytesOf,
      follows: ['user_stats'],
      changedBy: ({ key }) => String(key),
    })
  }

  /**
   * The relations of a reader. Call it while memory is current. No command if they are in memory,
   * otherwise one for followees and that of {@link KeptRestrictions}, which concurrent readers
   * share; readers who have more than 10,000 followees together also have one each.
   * @returns undefined for a reader with more than 5,000 followees or restrictions.
   */
  async load(reader: UserId): Promise<Relations | undefined> {
    const loaded = await this.readers.load([reader], true, async () => {
      const relations = await this.read(reader)
      return new Map([[reader, { relations }]])
    })
    return loaded.get(reader)?.relations
  }

  private async read(reader: UserId): Promise<Relations | undefined> {
    const found = (await this.readShared([reader])) ?? (await this.readAll([reader]))
    return found?.get(reader)
  }

  /** @returns undefined if several readers have too many followees for one command. */
  private async readAll(
    readers: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, Relations | undefined> | undefined> {
    const { follows, keptRestrictions } = this.parts
    const [edges, restricted] = await Promise.all([
      follows.followeesOfAll(readers, sharedMax),
      Promise.all(readers.map((reader) => keptRestrictions.load(reader))),
    ])
    if (edges.length >= sharedMax) return readers.length === 1 ? new Map() : undefined
    const edgesOf = groupBy(edges, ({ user }) => user)
    const foundOf = (reader: UserId, at: number): Relations | undefined => {
      const followees = new Set((edgesOf.get(reader) ?? []).map(({ followee }) => followee))
      const restrictions = restricted[at]
      if (!restrictions || Math.max(followees.size, restrictions.size) > relationsMax)
        return undefined
      const sources = [...followees].filter(
        (user) => user !== reader && isShown('FOLLOWEE', reader, { user }, { restrictions }),
      )
      return { followees, restrictions, sources }
    }
    return new Map(readers.map((reader, at) => [reader, foundOf(reader, at)]))
  }
}

const bytesOf = ({ relations }: KnownReader): number =>
  500 + (relations ? 120 * relations.followees.size + 300 * relations.restrictions.size : 0)
