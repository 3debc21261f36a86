import {
  groupOf,
  groupsOfAccounts,
  relationsOf,
  type SeenVersions,
  type Subject,
  timelinesOf,
  type Versions,
} from './versions.ts'

/** What a process keeps of accounts. */
export interface AccountSource {
  /** The live accounts among `ids`: the same objects as before, while the accounts are unchanged. */
  load(ids: readonly string[], stamping: Stamping): Promise<ReadonlyMap<string, object>>
}

/** The versions under which something was read. It is unchanged while its subjects have these versions. */
export interface Stamp {
  /** The versions of a reader, of registrations, and of groups of accounts. */
  readonly versions: Map<Subject, string>
  /** Accounts by id. They count only if the version of their group has changed. */
  readonly accounts: ReadonlyMap<string, object>
}

/** Number of accounts of a stamp. A read that depends on more has none. */
const accountsMax = 200

/**
 * The versions that one request has seen. All were read after the request arrived, and each before the data about its
 * subject. So what was read under a version is never older than it.
 */
export class Stamping {
  private readonly seen = new Map<Subject, string | undefined>()

  constructor(
    private readonly versions: Versions,
    private readonly accounts: AccountSource,
  ) {}

  /** Versions that are read later than everything that the request has read so far. */
  afresh(): Stamping {
    return new Stamping(this.versions, this.accounts)
  }

  /**
   * Whether what was read under a stamp was unchanged when this request arrived, or later. At most one command, shared,
   * and those of {@link AccountSource} if an account of the same groups has changed.
   */
  async isCurrent({ versions, accounts }: Stamp): Promise<boolean> {
    await this.look([...versions.keys()])
    const changed = new Set(
      [...versions].flatMap(([subject, value]) =>
        this.seen.get(subject) === value ? [] : subject,
      ),
    )
    const inDoubt = [...accounts.keys()].filter((id) => changed.has(groupOf(`account:${id}`)))
    const groups = new Set(inDoubt.map((id) => groupOf(`account:${id}`)))
    if ([...changed].some((subject) => !groups.has(subject))) return false
    if (inDoubt.length === 0) return true
    const current = await this.accounts.load(inDoubt, this)
    if (inDoubt.some((id) => current.get(id) !== accounts.get(id))) return false
    // So the stamp is right under the new versions of the groups too.
    for (const group of groups) versions.set(group, this.seen.get(group) ?? '')
    return true
  }

  /**
   * Begins the stamp of a timeline, or of a part of it. At most one command, shared, and up to three more if versions are
   * missing.
   * @param reader whose timeline will be read.
   * @returns undefined while nothing may be kept under versions.
   */
  async begin(reader: string): Promise<StampBuilder | undefined> {
    if (!(await this.versions.isOn('keptAnswers'))) return undefined
    const own = [...relationsOf([reader]), ...timelinesOf([reader]), 'registrations' as const]
    const values = await this.see(own)
    const builder = new StampBuilder()
    own.forEach((subject, at) => {
      builder.cover(subject, values[at])
    })
    return builder
  }

  /**
   * Sees the versions on which the facts about a timeline depend. One command, shared, and two more if one of those that
   * all readers share is missing.
   */
  async seeFacts(reader: string): Promise<void> {
    await this.look([...groupsOfAccounts, 'registrations', ...relationsOf([reader])])
    await this.see([...groupsOfAccounts, 'registrations'])
  }

  /**
   * The current versions of accounts, read after everything that the request has seen. One command, shared, and two more
   * if versions are missing.
   */
  async readAccounts(accounts: readonly Subject[]): Promise<SeenVersions> {
    return this.versions.loadOrCreate(accounts)
  }

  /** Reads versions that the request has not seen. At most one command, shared. */
  async look(subjects: readonly Subject[]): Promise<void> {
    const unseen = subjects.filter((subject) => !this.seen.has(subject))
    const found = await this.versions.load(unseen)
    for (const subject of unseen) this.seen.set(subject, found.get(subject))
  }

  /**
   * The stamp of a read that also depends on accounts, which are read later. Undefined if one of them is not live, or if
   * they are too many. At most one command, shared, and those of {@link AccountSource}.
   */
  async extend(stamp: Stamp, ids: readonly string[]): Promise<Stamp | undefined> {
    if (ids.length === 0) return stamp
    const later = this.afresh()
    const live = await this.accounts.load(ids, later)
    const builder = new StampBuilder(stamp)
    builder.coverAccounts(ids, live, later)
    return builder.finish()
  }

  /** The version that the request has seen. Undefined: it has seen none. */
  valueOf(subject: Subject): string | undefined {
    return this.seen.get(subject)
  }

  /** As {@link look}, but creates missing versions, with two commands more. @returns the versions, in order. */
  async see(subjects: readonly Subject[]): Promise<(string | undefined)[]> {
    const missing = [...new Set(subjects)].filter((subject) => this.seen.get(subject) === undefined)
    const found = await this.versions.loadOrCreate(missing)
    for (const subject of missing) this.seen.set(subject, found.get(subject))
    return subjects.map((subject) => this.seen.get(subject))
  }
}

/** Collects the versions of everything that a read depends on. */
export class StampBuilder {
  private readonly versions: Map<Subject, string>
  private readonly accounts: Map<string, object>
  private isSpoiled = false

  /** @param before what the read depends on already. */
  constructor(before?: Stamp) {
    this.versions = new Map(before?.versions)
    this.accounts = new Map(before?.accounts)
  }

  /** Adds a version that was read before the data about its subject. Undefined: it has none. */
  cover(subject: Subject, value: string | undefined): void {
    if (value === undefined) this.spoil()
    else this.versions.set(subject, this.versions.get(subject) ?? value)
  }

  /**
   * Adds accounts, and the versions of their groups under which they are current.
   * @param live of `ids`. The others have no account, and no version tells when one is created.
   */
  coverAccounts(ids: readonly string[], live: ReadonlyMap<string, object>, seen: Stamping): void {
    for (const id of ids) {
      const account = live.get(id)
      const before = this.accounts.get(id)
      if (!account || (before && before !== account)) this.spoil()
      else this.accounts.set(id, account)
      const group = groupOf(`account:${id}`)
      this.cover(group, seen.valueOf(group))
    }
    if (this.accounts.size > accountsMax) this.spoil()
  }

  /** Notes that the read depends on something that has no version. */
  spoil(): void {
    this.isSpoiled = true
  }

  /** The stamp, after the end of the read. Undefined if the read depends on something without a version. */
  finish(): Stamp | undefined {
    return this.isSpoiled ? undefined : { versions: this.versions, accounts: this.accounts }
  }
}

/** An estimate of the bytes of a stamp in memory. */
export const bytesOfStamp = ({ versions, accounts }: Stamp): number =>
  200 * versions.size + 100 * accounts.size
