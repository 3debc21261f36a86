import type {
  ClientSessionOptions,
  Db,
  MongoClient,
  TopologyDescription,
  TopologyDescriptionChangedEvent,
} from 'mongodb'
import { type ClientProfile, connect, requestTimeout } from './client.ts'
import {
  type CollectionIdentities,
  dropKnown,
  isGone,
  loadIdentities,
} from './collection-identities.ts'
import {
  type TimelineCollectionName,
  type TimelineCollections,
  type TimelineMarkDoc,
  timelineCollectionNames,
} from './collections.ts'
import { isDuplicateKey } from './errors.ts'
import { applyIndexes, isAsDeclared } from './indexes.ts'
import { MeasuredConnection } from './measured-connection.ts'
import { NotedFailures } from './noted-failures.ts'
import { shareReads } from './shared-reads.ts'

/** Stored timelines cannot be used now. Pages come from FANOUT_ON_READ, and jobs wait. */
export class TimelinesAway extends Error {
  override readonly name = 'TimelinesAway'
}

/** The primary of a timelines cluster. A new object stands for another election, another process, or a new connection. */
export interface ClusterPrimary {
  /**
   * The id of its election, which rises, and its process: `ID PROCESS`. After a restore from a backup, an id may return,
   * but a process never does. The same text for every router of a sharded cluster.
   */
  readonly election: string
  /** The members of the cluster, as `host:port`. */
  readonly hosts: readonly string[]
}

/** How a timelines cluster is opened. */
export interface ClusterOptions {
  readonly uri: string
  /** The name of the database, as that of users and posts. */
  readonly database: string
  readonly profile: ClientProfile
  /** Adds listeners to each client before it connects. */
  readonly listen?: (client: MongoClient) => void
}

/** An option that the driver accepts, but does not declare. Jobs wait for no transaction of this cluster. */
const measured = (): object => ({ connectionType: MeasuredConnection })

/** How long a command waits for a primary, in milliseconds. A page has another source, so it waits less than usual. */
const selectionMsMax = 1_000
const sharded = 'sharded'
/** The mark that identifies the data of a cluster. */
const markId = 'cluster'
const byMajority = { writeConcern: { w: 'majority' } } as const

/** Another process has prepared, or prepares, the timelines cluster. */
export class ClusterTaken extends Error {
  override readonly name = 'ClusterTaken'
}

/** What a timelines cluster held before it is emptied. */
export interface ClusterContent {
  /** The collections that {@link TimelinesCluster.begin} deletes. */
  readonly collections: CollectionIdentities
  readonly mark: TimelineMarkDoc | undefined
}

const taken = (cause: unknown) =>
  new ClusterTaken('another process has prepared the timelines cluster', { cause })

/** Whether writes wait for a majority, so that no election reverts them. Otherwise the URI says `w=1`. */
export const isDurable = (uri: string): boolean => !/[?&]w=1(&|$)/.test(uri)

/**
 * The cluster of TIMELINES_URI, which stores timelines and nothing else. It may be lost: a rebuild restores it. The
 * handles of its collections stay valid when it is opened again.
 */
export class TimelinesCluster implements AsyncDisposable {
  /** Whether this process has yet to create missing collections and indexes. See {@link createCollections}. */
  lacksCollections = false
  /** Called when another primary was found. */
  onPrimary: () => void = () => {}
  /** Whether writes wait for a majority. */
  readonly isDurable: boolean
  readonly collections: TimelineCollections
  /** The errors of its collections and transactions. */
  readonly failures = new NotedFailures()
  private client: MongoClient | undefined
  private found: ClusterPrimary | undefined
  private key = ''
  private isClosed = false
  private readonly share = shareReads('timeline_marks', () => this.findMark())

  private constructor(private readonly options: ClusterOptions) {
    this.isDurable = isDurable(options.uri)
    this.collections = Object.fromEntries(
      timelineCollectionNames.map((name) => [name, this.handleOf(name)]),
    ) as unknown as TimelineCollections
  }

  /**
   * Opens a cluster.
   * @throws the driver's error if no primary answers.
   */
  static async open(options: ClusterOptions): Promise<TimelinesCluster> {
    const cluster = new TimelinesCluster(options)
    await cluster.reopen()
    return cluster
  }

  /** As {@link open}, but a cluster that does not answer is opened later, with {@link reopen}. */
  static async openLater(options: ClusterOptions): Promise<TimelinesCluster> {
    const cluster = new TimelinesCluster(options)
    await cluster.reopen().catch(() => {})
    return cluster
  }

  /** The primary, as the driver knows it. Undefined while there is none. Sends no command. */
  get primary(): ClusterPrimary | undefined {
    return this.found
  }

  /** The database of the timelines. @throws {TimelinesAway} before the cluster has answered. */
  get db(): Db {
    if (!this.client) throw new TimelinesAway('the timelines cluster has not answered yet')
    return this.client.db(this.options.database)
  }

  /** Begins a session of this cluster. */
  startSession(options?: ClientSessionOptions) {
    if (!this.client) throw new TimelinesAway('the timelines cluster has not answered yet')
    return this.client.startSession(options)
  }

  /**
   * Opens a new client, and closes the one before. A client never accepts the primary of an earlier election, which a
   * new cluster under the same address has.
   */
  async reopen(): Promise<void> {
    const { uri, profile } = this.options
    let last: TopologyDescription | undefined
    const opened = await connect(
      uri,
      profile,
      {
        ...(profile === 'serving'
          ? { serverSelectionTimeoutMS: selectionMsMax, ...measured() }
          : {}),
        // A majority read would not see a write that waits for no majority.
        ...(this.isDurable ? {} : { w: 1, readConcernLevel: 'local' }),
      },
      (client) => {
        this.options.listen?.(client)
        client.on('topologyDescriptionChanged', (event: TopologyDescriptionChangedEvent) => {
          last = event.newDescription
          if (client === this.client) this.note(last)
        })
      },
    )
    if (this.isClosed) return opened.close()
    const before = this.client
    this.client = opened
    this.key = ''
    if (last) this.note(last)
    await before?.close()
  }

  /** Loads the mark of the data. One command, shared by concurrent requests. */
  async loadMark(): Promise<TimelineMarkDoc | undefined> {
    return this.share([])
  }

  /**
   * Loads what {@link begin} has to delete. An empty collection is left out, because it may be sharded. Two commands, and
   * two for each collection.
   */
  async loadContent(): Promise<ClusterContent> {
    const mark = await this.findMark()
    const collections = new Map(await loadIdentities(this.db))
    for (const name of timelineCollectionNames)
      if (collections.has(name) && (await this.isReady(name))) collections.delete(name)
    return { collections, mark }
  }

  /**
   * Deletes all timelines, creates their collections, and marks them. A repeat finishes what a killed process has begun.
   * @param known what to delete, from {@link loadContent}. Nothing else is deleted, so a process that is late cannot delete
   *   the timelines that another one has begun.
   * @throws {ClusterTaken} if another process has deleted or marked them.
   */
  async begin(
    mark: Pick<TimelineMarkDoc, 'value' | 'owner'>,
    { collections, mark: before }: ClusterContent,
  ): Promise<void> {
    const value = `${mark.value} is prepared`
    try {
      // With a mark that no page knows, none uses the data while it is deleted. A process that is late ends here.
      await this.replaceMark(before?.value, { ...mark, value })
      for (const name of timelineCollectionNames)
        if (name !== 'timeline_marks') await dropKnown(this.db, name, collections)
      await this.createCollections()
      // Last, because the mark says whose the rest is. The marks of drops and the guards of readers go with it.
      const dropped = await dropKnown(this.db, 'timeline_marks', collections)
      if (dropped) await this.createCollections()
      await this.replaceMark(dropped ? undefined : value, mark)
    } catch (error) {
      throw isGone(error) || isDuplicateKey(error) ? taken(error) : error
    }
  }

  /**
   * Replaces the mark of the data. One command.
   * @param before the value of the mark to replace. Undefined: there is none.
   * @throws {ClusterTaken} if there is another mark, or MongoDB's error for a duplicate key if there should be none.
   */
  private async replaceMark(
    before: string | undefined,
    mark: Pick<TimelineMarkDoc, 'value' | 'owner'>,
  ): Promise<void> {
    const marks = this.db.collection<TimelineMarkDoc>('timeline_marks')
    if (before === undefined) {
      await marks.insertOne({ _id: markId, ...mark }, byMajority)
      return
    }
    const replaced = { _id: markId, value: before }
    const { matchedCount } = await marks.updateOne(replaced, { $set: mark }, byMajority)
    if (matchedCount === 0) throw taken(undefined)
  }

  /** Creates missing collections and indexes. @throws {Error} if a collection exists in another form. */
  async createCollections(): Promise<void> {
    const { db } = this
    // Timelines have the same indexes in both modes of FOLLOWING.
    await applyIndexes(db, 'collection', timelineCollectionNames)
    // A late write may have created a collection in between.
    if (!(await isAsDeclared(db, timelineCollectionNames)))
      throw new Error('a collection of the timelines cluster has another form')
    this.lacksCollections = false
  }

  /** Whether the database holds no timelines. Marks are none. A command for each collection. */
  async isEmpty(): Promise<boolean> {
    for (const name of timelineCollectionNames)
      if (name !== 'timeline_marks' && (await this.hasAny(name))) return false
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true
    this.found = undefined
    await this.client?.close()
  }

  private async hasAny(name: TimelineCollectionName): Promise<boolean> {
    return (await this.db.collection(name).findOne({}, requestTimeout)) !== null
  }

  /** Whether a collection is empty, and clustered as declared. */
  private async isReady(name: TimelineCollectionName): Promise<boolean> {
    return (await isAsDeclared(this.db, [name])) && !(await this.hasAny(name))
  }

  private async findMark(): Promise<TimelineMarkDoc | undefined> {
    const found = await this.collections.timeline_marks.findOne({ _id: markId }, requestTimeout)
    return found ?? undefined
  }

  private note({ servers }: TopologyDescription): void {
    const all = [...servers.values()]
    const primary = all.find(({ type }) => type === 'RSPrimary' || type === 'Mongos')
    if (!primary) {
      this.key = ''
      this.found = undefined
      return
    }
    const isRouter = primary.type === 'Mongos'
    const { electionId, topologyVersion } = primary
    const process = topologyVersion?.processId.toHexString()
    const elected = electionId && `${electionId.toHexString()} ${process}`
    const election = isRouter ? sharded : (elected ?? '')
    const key = `${isRouter ? '' : primary.address} ${election}`
    if (key === this.key) return
    this.key = key
    const hosts = isRouter ? all.map(({ address }) => address) : primary.hosts
    this.found = { election, hosts }
    this.onPrimary()
  }

  /** A handle that follows {@link reopen}. */
  private handleOf(name: string): object {
    const get = (_: object, key: string | symbol): unknown =>
      Reflect.get(this.failures.watch(this.db.collection(name)), key)
    return new Proxy({}, { get })
  }
}
