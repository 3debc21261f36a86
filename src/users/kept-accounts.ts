import { type Account, accountFields } from '../db/collections.ts'
import type { UserId } from '../lib/ids.ts'
import { KeptValues } from '../memory/kept-values.ts'
import type { ProcessMemory } from '../memory/process-memory.ts'
import type { User } from './profile.ts'
import type { UserStats } from './stats.ts'
import type { Users } from './users.ts'

/** A live account with its profile. The object is another one after each change of the account. */
export interface KeptAccount {
  readonly account: Account
  /** Undefined if its document is malformed. */
  readonly profile: User | undefined
}

/** The parts that {@link KeptAccounts} works with. */
interface KeptAccountsParts {
  readonly memory: ProcessMemory
  readonly users: Pick<Users, 'byIds'>
  readonly stats: Pick<UserStats, 'liveAmong'>
  readonly bytesMax: number
}

/**
 * The live accounts that a process shows, in memory, for all readers together. No missing account
 * is kept.
 */
export class KeptAccounts {
  private readonly accounts: KeptValues<KeptAccount>

  constructor(private readonly parts: KeptAccountsParts) {
    this.accounts = new KeptValues({
      ...parts,
      name: 'accounts',
      follows: ['users', 'user_stats'],
      // Updates of counters are no change of an account.
      changedBy: ({ collection, operation, key, fields = [] }) =>
        collection === 'user_stats' &&
        operation === 'update' &&
        !accountFields.some((name) => fields.includes(name))
          ? undefined
          : String(key),
      bytesOf: ({ profile }) => 600 + 2 * JSON.stringify(profile ?? null).length,
    })
  }

  /**
   * The live accounts among `ids`. Two commands if any is not in memory. @param isCurrent whether
   * memory is current.
   */
  async load(ids: readonly UserId[], isCurrent: boolean): Promise<Map<UserId, KeptAccount>> {
    return this.accounts.load(ids, isCurrent, async (missing) => {
      const { users, stats } = this.parts
      const [live, profiles] = await Promise.all([stats.liveAmong(missing), users.byIds(missing)])
      return new Map([...live].map(([id, account]) => [id, { account, profile: profiles.get(id) }]))
    })
  }

  /** The accounts of {@link load}, without profiles. Call it while memory is current. */
  async loadLive(ids: readonly UserId[]): Promise<Map<UserId, Account>> {
    const kept = await this.load([...new Set(ids)], true)
    return new Map([...kept].map(([id, { account }]) => [id, account]))
  }
}
