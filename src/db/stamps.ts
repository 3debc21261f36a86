import {
  accountsOf,
  groupOf,
  relationsOf,
  type SeenVersions,
  type Subject,
  timelinesOf,
  type Versions,
} from './versions.ts'

/** The versions under which something was read. It is unchanged while its subjects have these versions. */
export interface Stamp {
  /** The versions of a reader, of registrations, and of groups of accounts. */
  readonly versions: Map<Subject, string>
  /** The versions of single accounts. They count only if the version of their group has changed. */
  readonly accounts: SeenVersions
}

/** Number of accounts of a stamp. A read that depends on more has none. */
const accountsMax = 200

/**
 * The versions that one request has seen. All were read after the request arrived, and each before the data about its
 * subject. So what was read under a version is never older than it.
 */
export class Stamping {
  private readonly seen = new Map<Subject, string | undefined>()

  constructor(private readonly versions: Versions) {}

  /** Versions that are read later than everything that the request has read so far. */
  afresh(): Stamping {
    return new Stamping(this.versions)
  }

  /**
   * Whether what was read under a stamp was unchanged when this request arrived, or later. At most one command, shared,
   * and one more if an account of the same groups has changed.
   */
  async isCurrent({ versions, accounts }: Stamp): Promise<boolean> {
    await this.look([...versions.keys()])
    const changed = new Set(
      [...versions].flatMap(([subject, value]) =>
        this.seen.get(subject) === value ? [] : subject,
      ),
    )
    const inDoubt = [...accounts.keys()].filter((account) => changed.has(groupOf(account)))
    const groups = new Set(inDoubt.map(groupOf))
    // No account of an unchanged group has changed.
    for (const [account, value] of accounts) {
      if (!this.seen.has(account) && !groups.has(groupOf(account))) this.seen.set(account, value)
    }
    if ([...changed].some((subject) => !groups.has(subject))) return false
    const current = new Map([...groups].map((group) => [group, this.seen.get(group) ?? '']))
    // Read after their groups, whatever this request has seen of them before.
    const read = await this.versions.load(inDoubt)
    if (inDoubt.some((account) => read.get(account) !== accounts.get(account))) return false
    // So the stamp is right under the new versions of the groups too.
    for (const [group, value] of current) versions.set(group, value)
    return true
  }

  /**
   * Begins the stamp of a timeline, or of a part of it. At most one command, shared, and two more if versions are
   * missing.
   * @param reader whose timeline will be read.
   * @returns undefined while nothing may be kept under versions.
   */
  async begin(reader: string): Promise<StampBuilder | undefined> {
    if (!(await this.versions.isOn('keptAnswers'))) return undefined
    const builder = new StampBuilder((subjects) => this.see(subjects))
    const own = [...relationsOf([reader]), ...timelinesOf([reader]), 'registrations' as const]
    const account = accountsOf([reader])
    await this.see([...own, ...account.map(groupOf), ...account])
    await builder.cover(own)
    await builder.coverAccounts(account)
    return builder
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
  private readonly versions = new Map<Subject, string>()
  private readonly accounts = new Map<Subject, string>()
  private isSpoiled = false

  /** @param see loads versions that the request has not seen, and creates missing ones. */
  constructor(
    private readonly see: (subjects: readonly Subject[]) => Promise<(string | undefined)[]>,
  ) {}

  /** Adds the versions of subjects. Call it before the data about them is read. */
  async cover(subjects: readonly Subject[]): Promise<void> {
    await this.add(subjects, this.versions)
  }

  /**
   * Adds the versions of accounts, and of their groups. Call it before the data about them is read. At most one command,
   * shared, and two more if versions are missing.
   */
  async coverAccounts(accounts: readonly Subject[]): Promise<void> {
    const unknown = [...new Set(accounts)].filter((account) => !this.accounts.has(account))
    if (unknown.length + this.accounts.size > accountsMax) this.spoil()
    if (!this.isSpoiled) await this.see([...unknown.map(groupOf), ...unknown])
    await this.add(unknown.map(groupOf), this.versions)
    await this.add(unknown, this.accounts)
  }

  private async add(subjects: readonly Subject[], to: Map<Subject, string>): Promise<void> {
    const unknown = [...new Set(subjects)].filter((subject) => !to.has(subject))
    if (this.isSpoiled || unknown.length === 0) return
    const values = await this.see(unknown)
    unknown.forEach((subject, at) => {
      const value = values[at]
      if (value === undefined) this.spoil()
      else to.set(subject, value)
    })
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
  200 * (versions.size + accounts.size)
