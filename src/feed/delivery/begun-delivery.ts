import type { Collections } from '../../db/collections.ts'
import type { Tx } from '../../db/transaction.ts'
import type { Versions } from '../../db/versions.ts'
import type { Audiences } from '../../follows/audiences.ts'
import type { Edges } from '../../follows/edges.ts'
import type { Job } from '../../jobs/queue.ts'
import type { BegunJob } from '../../jobs/runner.ts'
import { groupBy } from '../../lib/batch.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { KnownPost } from '../../posts/publish-posts.ts'
import type { UserStats } from '../../users/stats.ts'
import { type EntryContent, toEntry } from '../entries.ts'
import {
  isSameRegistration,
  maintainedIn,
  type Registered,
  type Registration,
  type Registry,
} from '../registry/registry.ts'
import type { Celebrities } from '../strategies/celebrities.ts'
import { inbox } from '../strategies/inbox.ts'
import { type ByStrategy, descriptors, insertingNames } from '../strategies/list.ts'
import type { MaterialisedStrategy, OutdateTimelines } from '../strategies/strategy.ts'
import { smallAudienceMax } from './follower-walk.ts'
import type { DeliveryPermit } from './permit.ts'

/** Number of followers that the deliveries of one transaction read, and so nearly the number of their entries. */
const followersMax = 1_000

/** The parts that {@link BegunDeliveries} works with. */
export interface BegunDeliveryParts {
  readonly collections: Collections
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly celebrities: Celebrities
  readonly registry: Registry
  readonly permit: DeliveryPermit
  readonly audiences: Audiences
  readonly edges: Edges
  readonly stats: UserStats
  readonly versions: Versions
  readonly outdateTimelines: OutdateTimelines
  readonly contents: EntryContent
  /** Number of followers up to which the process that creates a post delivers it. */
  readonly inlineMax: number
}

/** A post whose delivery may begin. */
interface Delivery extends KnownPost {
  readonly id: PostId
  readonly author: UserId
}

/**
 * Delivers posts to small audiences in the transactions that create them. This saves the facts of the delivery, the check
 * that the post still exists, and one wait for a majority.
 *
 * No follower is missed: a follow changes the author's counters, as the post does, so one of both transactions sees the
 * other. Followers in memory count only under the version that the post's own update of the counters has seen.
 *
 * The registrations are those of the permit of this process, which every change of the strategies waits for. So a
 * delivered post needs no job. Without a permit they are those that this process has seen last: the job is stored, and
 * after the commit they are read again. If they have changed, the job delivers the post as always.
 * @see law L1
 */
export class BegunDeliveries {
  constructor(private readonly parts: BegunDeliveryParts) {}

  /**
   * Delivers those posts that have at most 200 followers, if all registered strategies only insert entries, but no post
   * of a celebrity. One command in the transaction if the followers are in memory, otherwise two, and one more for an
   * author whose followers have no version. None on a sharded cluster, where the transaction would take part on each
   * reader's shard.
   * @returns for each job, what is left after the commit: the versions of timelines, and without a permit the check of the
   *   registrations. Without a permit, a job without a lease is left out.
   */
  async begin(tx: Tx, jobs: readonly Job[]): Promise<readonly (BegunJob | undefined)[]> {
    const { registry, versions, permit } = this.parts
    if (!this.canInsert(await registry.lastSeen())) return []
    if (!(await versions.isOn('deliveryInTransaction'))) return []
    const areVersioned = await versions.isOn('postsWithoutJobs')
    const permitted = areVersioned ? permit.current() : undefined
    const registered = permitted ?? (await registry.lastSeen())
    if (!this.canInsert(registered)) return []
    const own = permitted ? jobs : jobs.filter(({ leaseMs }) => leaseMs > 0)
    const delivered = await this.deliver(tx, own, { registered, areVersioned })
    return jobs.map((job) => {
      const post = delivered.get(job)
      return post && (permitted ? this.toWhole(post) : this.toBegun(post, registered))
    })
  }

  private async deliver(
    tx: Tx,
    jobs: readonly Job[],
    { registered, areVersioned }: How,
  ): Promise<ReadonlyMap<Job, Delivered>> {
    const { collections, celebrities, contents, inlineMax } = this.parts
    const audienceMax = Math.min(smallAudienceMax, inlineMax)
    const known = await celebrities.load(registered.get(inbox.name))
    const chosen = selectSmall(jobs, audienceMax, ({ author, stats }) => {
      return known.has(author) || celebrities.isOutlier(stats.followers)
    })
    const audiences = await this.loadAudiences(tx, [...chosen.values()], areVersioned)
    const delivered = new Map<Job, Delivered>()
    for (const [job, post] of chosen) {
      const followers = audiences.get(post.author)
      // A damaged counter or edge must not refuse the post.
      if (!followers || followers.length > audienceMax) continue
      const readers = [...new Set([post.author, ...followers])]
      delivered.set(job, { id: post.id, entry: toEntry(post, contents), readers })
    }
    if (delivered.size > 0)
      for (const { _id } of maintainedIn(registered))
        await descriptors[_id].insertAll?.(collections, [...delivered.values()], tx)
    return delivered
  }

  /** The transaction did the whole job. */
  private toWhole({ readers }: Delivered): BegunJob {
    const { permit, outdateTimelines } = this.parts
    return {
      // The driver does not repeat this command, and no worker would raise these versions before the permit's lease ends.
      finish: () => outdateTimelines(readers).catch(() => permit.outdateAnswers()),
      abandon: () => permit.giveUp(),
    }
  }

  private toBegun({ id, readers }: Delivered, registered: Registered): BegunJob {
    const { registry, strategies, outdateTimelines } = this.parts
    const writers = maintainedIn(registered)
    return {
      finish: () => outdateTimelines(readers),
      isDone: async () => {
        const now = maintainedIn(await registry.readShared())
        if (areSame(writers, now)) return true
        // Nothing else would remove the entries of a strategy that has ended or begun again.
        for (const one of writers) {
          if (!now.some((other) => isSameRegistration(one, other)))
            await strategies[one._id].remove(readers, [id], one)
        }
        return false
      },
    }
  }

  private canInsert(registered: Registered): boolean {
    const writers = maintainedIn(registered)
    return writers.length > 0 && writers.every(({ _id }) => insertingNames.includes(_id))
  }

  /**
   * The followers of authors, as the transaction sees them. Without authors whose followers were not all read. Those that
   * were read are kept under their version.
   */
  private async loadAudiences(
    tx: Tx,
    posts: readonly Delivery[],
    areVersioned: boolean,
  ): Promise<ReadonlyMap<UserId, readonly UserId[]>> {
    const followersOf = new Map<UserId, readonly UserId[]>()
    const unread = new Map<UserId, string | undefined>()
    for (const { author, audience, stats } of posts) {
      if (audience) followersOf.set(author, audience.followers)
      else unread.set(author, stats.audience)
    }
    if (unread.size === 0) return followersOf
    const { audiences, edges, stats } = this.parts
    const rows = await edges.loadFollowers([...unread.keys()], followersMax + 1, tx)
    const lastRead = rows.length > followersMax ? rows.at(-1)?.user : undefined
    const byAuthor = groupBy(rows, ({ user }) => user)
    const without = [...unread].flatMap(([author, version]) => (version ? [] : [author]))
    const isRenewed = areVersioned && without.length > 0
    const fresh = isRenewed ? await stats.renewAudiences(tx, without) : undefined
    for (const [author, version = fresh] of unread) {
      if (lastRead !== undefined && author >= lastRead) continue
      const followers = (byAuthor.get(author) ?? []).map(({ follower }) => follower)
      followersOf.set(author, followers)
      if (areVersioned && version !== undefined && followers.length <= smallAudienceMax)
        audiences.keep(author, { version, followers })
    }
    return followersOf
  }
}

/** How posts are delivered. */
interface How {
  readonly registered: Registered
  /** Whether each change of followers, by any process, gives them a new version. */
  readonly areVersioned: boolean
}

/** A post that a transaction delivers. */
interface Delivered {
  readonly id: PostId
  readonly entry: ReturnType<typeof toEntry>
  readonly readers: readonly UserId[]
}

/**
 * The posts with small audiences, by job, as long as their audiences fit into one transaction.
 * @param isLeftOut whether a post is not stored, or may become one that is not.
 */
function selectSmall(
  jobs: readonly Job[],
  audienceMax: number,
  isLeftOut: (delivery: Delivery) => boolean,
): ReadonlyMap<Job, Delivery> {
  const chosen = new Map<Job, Delivery>()
  let sum = 0
  for (const job of jobs) {
    if (job.known === undefined) continue
    const { post, author } = job.payload as { readonly post: PostId; readonly author: UserId }
    const delivery = { ...(job.known as KnownPost), id: post, author }
    const { followers } = delivery.stats
    if (followers > audienceMax || sum + followers > followersMax || isLeftOut(delivery)) continue
    sum += followers
    chosen.set(job, delivery)
  }
  return chosen
}

const areSame = (then: readonly Registration[], now: readonly Registration[]): boolean =>
  then.length === now.length &&
  then.every((before) =>
    isSameRegistration(
      before,
      now.find(({ _id }) => _id === before._id),
    ),
  )
