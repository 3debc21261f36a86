import type { Tx } from '../../db/transaction.ts'
import type { Versions } from '../../db/versions.ts'
import type { Edges } from '../../follows/edges.ts'
import type { Job } from '../../jobs/queue.ts'
import type { BegunJob } from '../../jobs/runner.ts'
import { groupBy } from '../../lib/batch.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { KnownPost } from '../../posts/publish-posts.ts'
import { type EntryContent, toEntry } from '../entries.ts'
import {
  isSameRegistration,
  maintainedIn,
  type Registration,
  type Registry,
} from '../registry/registry.ts'
import type { Celebrities } from '../strategies/celebrities.ts'
import { inbox } from '../strategies/inbox.ts'
import type { ByStrategy } from '../strategies/list.ts'
import type { MaterialisedStrategy, RaiseTimelines } from '../strategies/strategy.ts'
import { smallAudienceMax } from './follower-walk.ts'

/** Number of followers that the deliveries of one transaction read, and so nearly the number of their entries. */
const followersMax = 1_000

/** The parts that {@link BegunDeliveries} works with. */
export interface BegunDeliveryParts {
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly celebrities: Celebrities
  readonly registry: Registry
  readonly edges: Edges
  readonly versions: Versions
  readonly raiseTimelines: RaiseTimelines
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
 * other. The registrations are those that this process has seen last. After the commit they are read again, and if they
 * have changed, the job delivers the post as always. Until then the job is in the outbox.
 * @see law L1
 */
export class BegunDeliveries {
  constructor(private readonly parts: BegunDeliveryParts) {}

  /**
   * Delivers those posts that have at most 200 followers, if all registered strategies only insert entries, but no post
   * of a celebrity. Two commands in the transaction. None on a sharded cluster, where the transaction would take part on
   * each reader's shard.
   * @returns for each job, what is left after the commit: new versions, and the check of the registrations.
   */
  async begin(tx: Tx, jobs: readonly Job[]): Promise<readonly (BegunJob | undefined)[]> {
    const { registry, versions, celebrities, inlineMax } = this.parts
    const registered = await registry.lastSeen()
    const writers = maintainedIn(registered)
    if (!this.canInsert(writers) || !(await versions.isOn('deliveryInTransaction'))) return []
    const audienceMax = Math.min(smallAudienceMax, inlineMax)
    const known = await celebrities.load(registered.get(inbox.name))
    const chosen = selectSmall(jobs, audienceMax, ({ author, followers }) => {
      return known.has(author) || celebrities.isOutlier(followers)
    })
    const audiences = await this.loadAudiences(tx, [...chosen.values()])
    const delivered = [...chosen].flatMap(([job, post]) => {
      const followers = audiences.get(post.author)
      // A damaged counter or edge must not refuse the post.
      if (!followers || followers.length > audienceMax) return []
      return [{ job, post, readers: [...new Set([post.author, ...followers])] }]
    })
    const entries = delivered.map(({ post, readers }) => ({
      entry: toEntry(post, this.parts.contents),
      readers,
    }))
    if (entries.length > 0)
      for (const { _id } of writers) await this.parts.strategies[_id].insertAll?.(entries, tx)
    const readersOf = new Map(delivered.map(({ job, readers }) => [job, readers]))
    return jobs.map((job) => {
      const readers = readersOf.get(job)
      return readers && this.toBegun(readers, writers, chosen.get(job)?.id as PostId)
    })
  }

  private toBegun(
    readers: readonly UserId[],
    writers: readonly Registration[],
    post: PostId,
  ): BegunJob {
    const { registry, strategies, raiseTimelines } = this.parts
    return {
      finish: () => raiseTimelines(readers),
      isDone: async () => {
        const now = maintainedIn(await registry.readShared())
        if (areSame(writers, now)) return true
        // Nothing else would remove the entries of a strategy that has ended or begun again.
        for (const one of writers) {
          if (!now.some((other) => isSameRegistration(one, other)))
            await strategies[one._id].remove(readers, [post], one)
        }
        return false
      },
    }
  }

  private canInsert(writers: readonly Registration[]): boolean {
    const { strategies } = this.parts
    return writers.length > 0 && writers.every(({ _id }) => strategies[_id].insertAll !== undefined)
  }

  /** The followers of authors, in the snapshot of the transaction. Without authors whose followers were not all read. */
  private async loadAudiences(
    tx: Tx,
    posts: readonly Delivery[],
  ): Promise<ReadonlyMap<UserId, readonly UserId[]>> {
    const authors = [...new Set(posts.map(({ author }) => author))]
    if (authors.length === 0) return new Map()
    const found = await this.parts.edges.loadFollowers(authors, followersMax + 1, tx)
    const lastRead = found.length > followersMax ? found.at(-1)?.user : undefined
    const edges = groupBy(found, ({ user }) => user)
    return new Map(
      authors.flatMap((author) =>
        lastRead === undefined || author < lastRead
          ? [[author, (edges.get(author) ?? []).map(({ follower }) => follower)] as const]
          : [],
      ),
    )
  }
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
    const { text, followers } = job.known as KnownPost
    const { post, author } = job.payload as { readonly post: PostId; readonly author: UserId }
    const delivery = { id: post, author, text, followers }
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
