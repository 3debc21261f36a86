import type { Account } from '../db/collections.ts'
import { Memory } from '../db/memory.ts'
import type { AccountSource, Stamping } from '../db/stamps.ts'
import { accountsOf, groupOf } from '../db/versions.ts'
import type { UserId } from '../lib/ids.ts'
import type { User } from './profile.ts'
import type { UserStats } from './stats.ts'
import type { Users } from './users.ts'

/**
 * A live account with its profile. What is kept about an account, such as its posts, refers to this object, and is
 * current while {@link KeptAccounts.load} returns the same one.
 */
export interface KeptAccount {
  readonly account: Account
  /** Undefined if its document is malformed. */
  readonly profile: User | undefined
}

interface Entry {
  readonly kept: KeptAccount
  /** The version of the account before it was read. Undefined: it was not read. */
  readonly version: string | undefined
  /** The version of its group under which it was current. */
  group: string
}

/** The parts that {@link KeptAccounts} works with. */
interface KeptAccountsParts {
  readonly users: Pick<Users, 'byIds'>
  readonly stats: Pick<UserStats, 'liveAmong'>
  readonly bytesMax: number
  readonly keptMsMax: number
}

/**
 * The accounts that processes show, in memory, for all readers together. An entry is current while the version of its
 * group of accounts is. When a group has changed, the versions of its accounts decide. No missing account is kept, and
 * none without a profile: neither its creation nor the correction of its document by an operator raises a version.
 */
export class KeptAccounts implements AccountSource {
  private readonly entries: Memory<Entry>

  constructor(private readonly parts: KeptAccountsParts) {
    const bytesOf = ({ kept: { profile } }: Entry) => 600 + 2 * JSON.stringify(profile).length
    this.entries = new Memory({ ...parts, name: 'accounts', bytesOf })
  }

  /** Whether anything is kept. */
  get isOn(): boolean {
    return this.entries.isOn
  }

  /**
   * The live accounts among `ids`, as they are now or were when the request arrived. Two commands if any is not in memory.
   * One more, shared, if the group of one has changed, and two more if a version is missing then.
   * @param stamping has seen the versions of all groups, or creates them with up to three commands.
   */
  async load(ids: readonly UserId[], stamping: Stamping): Promise<Map<UserId, KeptAccount>> {
    const subjects = accountsOf(ids)
    const groups = await stamping.see(subjects.map(groupOf))
    const current = new Map<UserId, KeptAccount>()
    const unknown: { readonly id: UserId; readonly group: string | undefined }[] = []
    const doubtful: UserId[] = []
    ids.forEach((id, at) => {
      const entry = this.entries.get(id)
      const group = groups[at]
      const isCurrent = entry !== undefined && entry.group === group
      this.entries.countRead(isCurrent)
      if (isCurrent) current.set(id, entry.kept)
      else unknown.push({ id, group })
      if (entry && !isCurrent) doubtful.push(id)
    })
    const versions = await stamping.readAccounts(accountsOf(doubtful))
    const left = unknown.filter(({ id, group }) => {
      const entry = this.entries.get(id)
      const version = versions.get(`account:${id}`)
      if (!entry || version === undefined || version !== entry.version || group === undefined)
        return true
      entry.group = group
      current.set(id, entry.kept)
      return false
    })
    if (left.length === 0) return current
    const missing = left.map(({ id }) => id)
    const [live, profiles] = await Promise.all([
      this.parts.stats.liveAmong(missing),
      this.parts.users.byIds(missing),
    ])
    for (const { id, group } of left) {
      const account = live.get(id)
      if (!account) continue
      const profile = profiles.get(id)
      const kept = { account, profile }
      const version = versions.get(`account:${id}`)
      if (group !== undefined && profile) this.entries.set(id, { kept, version, group })
      current.set(id, kept)
    }
    return current
  }
}
