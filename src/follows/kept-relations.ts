import { Memory } from '../db/memory.ts'
import { shareReads } from '../db/shared-reads.ts'
import type { Stamping } from '../db/stamps.ts'
import { relationsOf } from '../db/versions.ts'
import { groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'
import type { RestrictionKind } from '../visibility/rules.ts'
import type { Follows } from './follows.ts'
import type { Restrictions } from './restrictions.ts'

/** The users that a reader follows, and the mutes and blocks between the reader and others. */
export interface Relations {
  readonly followees: ReadonlySet<UserId>
  readonly restrictions: ReadonlyMap<UserId, ReadonlySet<RestrictionKind>>
}

/** What is known about a reader. */
interface Entry {
  /** Undefined if there are too many. */
  readonly relations: Relations | undefined
  /** The versions before they were read. Undefined: the reader had none. */
  readonly versions: readonly (string | undefined)[]
}

/** The most followees, and the most restrictions, that are kept of a reader. */
const relationsMax = 5_000

/** The most readers that share a command, and the most followees and restrictions that it reads. */
const [readersMax, sharedMax] = [16, 10_000]

/** The parts that {@link KeptRelations} works with. */
interface KeptRelationsParts {
  readonly follows: Pick<Follows, 'followeesOfAll'>
  readonly restrictions: Pick<Restrictions, 'restrictionsOfAll'>
  readonly bytesMax: number
  readonly keptMsMax: number
}

/**
 * The relations of readers in memory. They are current while the version of the reader's relations is, and that of
 * registrations, which an import raises. A reader who comes once leaves no version in the database.
 */
export class KeptRelations {
  private readonly entries: Memory<Entry>
  private readonly readShared = shareReads(
    'relations',
    (readers: readonly UserId[]) => this.readAll([...new Set(readers)]),
    readersMax,
  )

  constructor(private readonly parts: KeptRelationsParts) {
    this.entries = new Memory({ ...parts, name: 'relations', largestShare: 1 / 16, bytesOf })
  }

  /**
   * The relations of a reader. No command if they are in memory, otherwise two, which concurrent readers share; readers
   * who have more than 10,000 of a kind together also have two commands each. For the second read of a reader, three more
   * if the version is missing.
   * @param stamping has seen the versions of the reader's relations and of registrations.
   * @returns undefined for a reader with more than 5,000 followees or restrictions.
   */
  async load(reader: UserId, stamping: Stamping): Promise<Relations | undefined> {
    const subjects = [...relationsOf([reader]), 'registrations' as const]
    const entry = this.entries.get(reader)
    const versions = entry
      ? await stamping.see(subjects)
      : subjects.map((one) => stamping.valueOf(one))
    const isCurrent =
      entry !== undefined &&
      versions.every((one, at) => one !== undefined && one === entry.versions[at])
    this.entries.countRead(isCurrent)
    if (isCurrent) return entry.relations
    const relations = await this.read(reader)
    this.entries.set(reader, { relations, versions })
    return relations
  }

  private async read(reader: UserId): Promise<Relations | undefined> {
    const found = (await this.readShared([reader])) ?? (await this.readAll([reader]))
    return found?.get(reader)
  }

  /** @returns undefined if several readers have too many relations for one command. */
  private async readAll(
    readers: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, Relations | undefined> | undefined> {
    const { follows, restrictions } = this.parts
    const [edges, restricted] = await Promise.all([
      follows.followeesOfAll(readers, sharedMax),
      restrictions.restrictionsOfAll(readers, sharedMax),
    ])
    if (edges.length >= sharedMax || !restricted)
      return readers.length === 1 ? new Map() : undefined
    const edgesOf = groupBy(edges, ({ user }) => user)
    const foundOf = (reader: UserId): Relations | undefined => {
      const followees = new Set((edgesOf.get(reader) ?? []).map(({ followee }) => followee))
      const own = restricted.get(reader) ?? new Map()
      return Math.max(followees.size, own.size) > relationsMax
        ? undefined
        : { followees, restrictions: own }
    }
    return new Map(readers.map((reader) => [reader, foundOf(reader)]))
  }
}

const bytesOf = ({ relations }: Entry): number =>
  500 + (relations ? 100 * relations.followees.size + 300 * relations.restrictions.size : 0)
