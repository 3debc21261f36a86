import type { EntryDoc } from '../../src/db/collections.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, type PostRef, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import type { ServiceConfig } from '../../src/services.ts'
import type { EntryContent } from '../../src/timeline/entries.ts'
import type { Projection } from '../../src/timeline/pages/page.ts'
import {
  descriptors,
  type FeedStrategyName,
  isMaterialised,
} from '../../src/timeline/strategies/list.ts'
import { joblessRun } from './jobless-run.ts'
import { handle, openAccounts, type ServicesHarness, useServices } from './services.ts'

/** Sizes so small that every test reaches them. */
export const sizes = { cacheSize: 4, sizedBucketSize: 3 } as const
/** Some minutes, so that a few posts are already in several periods. */
const timeBucketDays = 0.01
export const periodMs = timeBucketDays * 86_400_000

/** The kind and the payload of a job. */
export interface Job {
  readonly kind: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** A page request without its window. */
export interface Asked {
  readonly strategy?: FeedStrategyName
  readonly group?: string
  readonly projection?: Projection
}

/** Users, posts and pages of one strategy, for its tests. */
export type FeedFixture = ReturnType<typeof useFeedFixture>

/**
 * Gives a test file services whose timelines come from one strategy. Jobs run only in `run` and
 * `rest`.
 */
export function useFeedFixture(
  strategy: FeedStrategyName,
  entries: EntryContent,
  maintained: readonly FeedStrategyName[] = ['FANOUT_ON_READ', strategy],
  more: Partial<ServiceConfig['feed']> = {},
) {
  const harness: ServicesHarness = useServices('collection', undefined, {
    ...sizes,
    strategy,
    maintained,
    entries,
    timeBucketDays,
    ...more,
  })
  let scenes = 0

  /** Opens accounts with these names, under a new prefix. */
  async function people<Name extends string>(...names: Name[]) {
    const scene = `f${scenes++}-`
    const ids = names.map((name) => handle(scene + name))
    await openAccounts(harness.services, ids)
    return Object.fromEntries(names.map((name, n) => [name, ids[n]])) as Record<Name, UserId>
  }

  async function page(reader: UserId, window: Partial<Window> = {}, asked: Asked = {}) {
    const found = await harness.services.feed.timeline(reader, {
      window: { limit: 10, backward: false, ...window },
      projection: 'ref',
      ...asked,
    })
    return {
      ids: found.items.map(({ post }) => post.id),
      items: found.items.map(({ post }) => post),
      next: await found.hasNextPage(),
      previous: await found.hasPreviousPage(),
      servedBy: found.servedBy,
    }
  }

  /** Reads the whole timeline, page by page along its cursors. */
  async function walked(
    reader: UserId,
    { limit = 100, backward = false, group = undefined as string | undefined, between = nothing },
  ) {
    const walk: PostId[] = []
    for (;;) {
      const cursor = backward ? { before: walk[0] } : { after: walk.at(-1) }
      const { ids } = await page(reader, { limit, backward, ...cursor }, group ? { group } : {})
      if (backward) walk.unshift(...ids)
      else walk.push(...ids)
      if (ids.length === 0) return walk
      await between()
    }
  }

  /** Inserts posts of one author without jobs, like an import. @returns their ids, newest first. */
  async function stored(author: UserId, count: number, { fromMs = startMs, stepMs = 60_000 } = {}) {
    const { posts, user_stats } = harness.services.collections
    const docs = Array.from({ length: count }, (_, n) => ({
      _id: toObjectId(timeIdAt<PostId>(fromMs + n * stepMs, tail())),
      author,
      text: `${n} by ${author}`,
    }))
    await posts.insertMany(docs)
    await user_stats.updateOne({ _id: author }, { $inc: { posts: count } })
    return docs.map(({ _id }) => _id.toHexString() as PostId).reverse()
  }

  const follow = (follower: UserId, followee: UserId) =>
    harness.services.follows.follow(follower, followee)

  /** The entries that the strategy stores for a reader, newest first, repeats included. */
  async function entriesOf(reader: UserId): Promise<EntryDoc[]> {
    const key = ({ post }: EntryDoc) => post.toHexString()
    if (!isMaterialised(strategy)) return []
    const { storedForm: form } = descriptors[strategy]
    const collection = harness.database.db.collection<never>(form.collection)
    const documents = await collection.find(form.ofReader(reader)).toArray()
    return documents
      .flatMap((one) => [...form.entriesIn(one)])
      .sort((a, b) => (key(a) < key(b) ? 1 : -1))
  }

  return {
    harness,
    strategy,
    entries,
    maintained,
    people,
    page,
    walked,
    stored,
    follow,
    get services() {
      return harness.services
    },
    get collections() {
      return harness.services.collections
    },
    rest: () => harness.rest(),
    /** Creates a post with its job. @returns its id. */
    post: async (author: UserId, text = 'hello') =>
      (await harness.services.posts.create(author, { text })).id,
    remove: (author: UserId, id: PostId) => harness.services.posts.delete(author, { id, author }),
    /** Removes all jobs from the outbox. @returns the jobs, oldest first. */
    takeJobs: async (): Promise<Job[]> => {
      const { outbox } = harness.services.collections
      const found = await outbox.find().sort({ _id: 1 }).toArray()
      await outbox.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } })
      return found.map(({ kind, payload }) => ({ kind, payload }))
    },
    /**
     * Runs a job from its start to its end. The removal of an account is split, so a worker runs
     * it.
     */
    run: async ({ kind, payload }: Job): Promise<void> => {
      const { outbox, transactions } = harness.services
      if (kind === 'user.deleted') {
        await transactions.run((tx) => outbox.enqueue(tx, [{ kind, payload }]))
        return harness.rest()
      }
      let checkpoint: unknown
      const save = async (given: unknown) => {
        checkpoint = given
      }
      const task = harness.services.tasks[kind]
      while ((await task?.(payload, joblessRun({ checkpoint, save }))) === 'unfinished');
    },
    entriesOf,
    /** The posts of {@link entriesOf}. */
    heldFor: async (reader: UserId): Promise<PostId[]> =>
      (await entriesOf(reader)).map(({ post }) => post.toHexString() as PostId),
  }
}

/** The delivery of a post. */
export const deliveryOf = ({ author, id }: PostRef): Job => ({
  kind: 'post.created',
  payload: { author, post: id },
})

/** The beginning of a period, long before any test. */
export const startMs = Math.floor(1.6e12 / periodMs) * periodMs

/** Timelines of these lists, newest first. */
export const newestFirst = (...lists: readonly (readonly PostId[])[]): PostId[] =>
  lists.flat().sort().reverse()

let tails = 0
const tail = () => (tails++).toString(16).padStart(12, '0')
const nothing = async () => {}
