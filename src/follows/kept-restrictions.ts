import { shareReads } from '../db/shared-reads.ts'
import type { UserId } from '../lib/ids.ts'
import { KeptValues } from '../memory/kept-values.ts'
import type { ProcessMemory } from '../memory/process-memory.ts'
import type { Facts } from '../visibility/rules.ts'
import type { Restrictions } from './restrictions.ts'

/** What is known about a viewer. */
interface KnownViewer {
  /** Undefined if there are too many. */
  readonly restrictions: Facts['restrictions'] | undefined
}

/** The most viewers that share a command, and the most mutes and blocks that it reads. */
const [viewersMax, sharedMax] = [16, 10_000]

/** The parts that {@link KeptRestrictions} works with. */
interface KeptRestrictionsParts {
  readonly memory: ProcessMemory
  readonly restrictions: Pick<Restrictions, 'restrictionsOfAll'>
  readonly bytesMax: number
}

/**
 * The mutes and blocks of viewers in memory. Each change of them changes the guard of the viewer.
 */
export class KeptRestrictions {
  private readonly viewers: KeptValues<KnownViewer>
  private readonly readShared = shareReads(
    'kept_restrictions',
    (viewers: readonly UserId[]) => this.readAll([...new Set(viewers)]),
    viewersMax,
  )

  constructor(private readonly parts: KeptRestrictionsParts) {
    this.viewers = new KeptValues({
      ...parts,
      name: 'restrictions',
      largestShare: 1 / 16,
      bytesOf: ({ restrictions }) => 400 + 300 * (restrictions?.size ?? 0),
      follows: ['user_stats'],
      // A follow changes no restriction.
      changedBy: ({ fields, key }) =>
        fields && !fields.includes('guard') && !fields.includes('repairs')
          ? undefined
          : String(key),
    })
  }

  /**
   * All mutes and blocks between a viewer and others. Call it while memory is current. No command
   * if they are in memory, otherwise one, which concurrent reads share.
   * @returns undefined for a viewer with 10,000 of them or more.
   */
  async load(viewer: UserId): Promise<Facts['restrictions'] | undefined> {
    const loaded = await this.viewers.load([viewer], true, async () => {
      const all = (await this.readShared([viewer])) ?? (await this.readAll([viewer]))
      return new Map([[viewer, { restrictions: all?.get(viewer) }]])
    })
    return loaded.get(viewer)?.restrictions
  }

  /** @returns undefined if the viewers together have too many for one command. */
  private async readAll(
    viewers: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, Facts['restrictions']> | undefined> {
    const all = await this.parts.restrictions.restrictionsOfAll(viewers, sharedMax)
    return all && new Map(viewers.map((viewer) => [viewer, all.get(viewer) ?? new Map()]))
  }
}
