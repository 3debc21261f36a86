import {
  accountsOf,
  relationsOf,
  type SeenVersions,
  type Subject,
  timelinesOf,
  type Versions,
} from './versions.ts'

/** The versions under which something was read. It is unchanged while its subjects have these versions. */
export interface Stamp {
  readonly subjects: readonly Subject[]
  /** One for each subject. */
  readonly values: readonly string[]
}

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

  /** Whether what was read under a stamp was unchanged when this request arrived, or later. At most one command, shared. */
  async isCurrent(stamp: Stamp): Promise<boolean> {
    return (await this.findChanged(stamp)).length === 0
  }

  /** The subjects of a stamp that have changed since. At most one command, shared. */
  async findChanged({ subjects, values }: Stamp): Promise<readonly Subject[]> {
    const unseen = subjects.filter((subject) => !this.seen.has(subject))
    const found = await this.versions.load(unseen)
    for (const subject of unseen) this.seen.set(subject, found.get(subject))
    return subjects.filter((subject, at) => this.seen.get(subject) !== values[at])
  }

  /**
   * Begins the stamp of a timeline, or of a part of it. At most one command, shared, and two more if versions are
   * missing.
   * @param reader whose timeline will be read.
   * @param authors who are likely on it. Their versions are read with those of the reader.
   */
  async begin(reader: string, authors: readonly string[]): Promise<StampBuilder> {
    const builder = new StampBuilder(
      (subjects) => this.see(subjects),
      (subjects) => this.versions.load(subjects),
    )
    const own = [...relationsOf([reader]), ...timelinesOf([reader]), ...accountsOf([reader])]
    await this.see([...own, 'registrations', ...accountsOf(authors)])
    await builder.cover([...own, 'registrations'])
    return builder
  }

  private async see(subjects: readonly Subject[]): Promise<(string | undefined)[]> {
    const missing = subjects.filter((subject) => this.seen.get(subject) === undefined)
    const found = await this.versions.loadOrCreate(missing)
    for (const subject of missing) this.seen.set(subject, found.get(subject))
    return subjects.map((subject) => this.seen.get(subject))
  }
}

/** Number of subjects of a stamp. A read that depends on more is not kept. */
const subjectsMax = 200

/** Collects the versions of everything that a read depends on. */
export class StampBuilder {
  private readonly values = new Map<Subject, string>()
  private isSpoiled = false

  /**
   * @param see loads versions that the request has not seen, and creates missing ones.
   * @param reload loads versions again.
   */
  constructor(
    private readonly see: (subjects: readonly Subject[]) => Promise<(string | undefined)[]>,
    private readonly reload: (subjects: readonly Subject[]) => Promise<SeenVersions>,
  ) {}

  /** Adds the versions of subjects. Call it before the data about them is read. At most one command, shared, and two more if versions are missing. */
  async cover(subjects: readonly Subject[]): Promise<void> {
    const unknown = subjects.filter((subject) => !this.values.has(subject))
    if (unknown.length + this.values.size > subjectsMax) this.spoil()
    if (this.isSpoiled || unknown.length === 0) return
    const values = await this.see(unknown)
    unknown.forEach((subject, at) => {
      const value = values[at]
      if (value === undefined) this.spoil()
      else this.values.set(subject, value)
    })
  }

  /** Whether a subject still has the version that this stamp has of it. One command, shared. */
  async isStill(subject: Subject): Promise<boolean> {
    return (await this.reload([subject])).get(subject) === this.values.get(subject)
  }

  /** Notes that the read depends on something that has no version. */
  spoil(): void {
    this.isSpoiled = true
  }

  /** The stamp of the read, after its end. Undefined if it depends on something without a version. */
  finish(): Stamp | undefined {
    if (this.isSpoiled) return undefined
    return { subjects: [...this.values.keys()], values: [...this.values.values()] }
  }
}
