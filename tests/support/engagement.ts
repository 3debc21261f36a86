import type { EngagementDoc, OverflowDoc, PostDoc } from '../../src/db/collections.ts'
import type { IdempotencyKey } from '../../src/db/idempotency.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { EngagementChange } from '../../src/engagement/engagement.ts'
import {
  type EngagementKind,
  engagementKinds,
  entryKey,
  isKeyedBy,
  perKind,
} from '../../src/engagement/kinds.ts'
import type { Engagement } from '../../src/engagement/reader.ts'
import type { EngagementId, PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import { pageSizeMax } from '../../src/lib/page.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import type { Services } from '../../src/services.ts'

/** The most entries of a list in its post and in an overflow document. */
export interface Limits {
  readonly threshold: number
  readonly capacity: number
}

/** The same limits for every kind. */
export const sameLimits = ({ threshold, capacity }: Limits) => ({
  thresholds: perKind(() => threshold),
  capacity,
})

/** The writes of one kind, under the same names for all kinds. */
export const actsOf = ({ engagements }: Services, kind: EngagementKind) => ({
  add: async (
    user: UserId,
    post: PostRef,
    idempotencyKey?: IdempotencyKey,
  ): Promise<EngagementChange> =>
    engagements.add(kind, user, post, { text: `by ${user}`, idempotencyKey }),
  /** @param id the id of the entry, for kinds whose key is the id. */
  take: async (
    user: UserId,
    post: PostRef,
    id: EngagementId,
    idempotencyKey?: IdempotencyKey,
  ): Promise<EngagementChange> =>
    isKeyedBy(kind, '_id')
      ? engagements.removeById({ kind, post, id }, user, idempotencyKey)
      : engagements.remove(kind, user, post, idempotencyKey),
})

/** The options of a walk through a list. */
export interface Walk {
  readonly limit?: number
  readonly backward?: boolean
  readonly between?: () => Promise<unknown>
}

/** Reads a whole list by its cursors. Returns it newest first in both directions. */
export async function walked(
  { engagementReader }: Pick<Services, 'engagementReader'>,
  kind: EngagementKind,
  post: PostRef,
  { limit = pageSizeMax, backward = false, between }: Walk = {},
): Promise<Engagement[]> {
  const found: Engagement[] = []
  for (let cursor: EngagementId | undefined; ; await between?.()) {
    const window = { limit, backward, [backward ? 'before' : 'after']: cursor }
    const page = (await readPages(engagementReader.list(kind), [post], window)).get(post.id)
    const items = page?.items ?? []
    if (backward) found.unshift(...items)
    else found.push(...items)
    cursor = (backward ? items[0] : items.at(-1))?.place
    const more = await (backward ? page?.hasPreviousPage() : page?.hasNextPage())
    if (!more) return found
    if (cursor === undefined) throw new Error('an empty page claims that more items follow')
  }
}

/**
 * The violations of law L2 by the lists of all posts, or of the given posts, also if they are
 * deleted. Reads all documents, so no writes may run at the same time.
 */
export async function engagementProblems(
  services: Services,
  limits: Limits,
  of?: readonly PostRef[],
): Promise<string[]> {
  const { posts, overflow, engagements_by_user } = services.collections
  const ids = of && { $in: of.map(({ id }) => toObjectId(id)) }
  const stored = await posts.find(ids ? { _id: ids } : {}).toArray()
  const levels = await overflow
    .find(ids ? { '_id.post': ids } : {})
    .sort({ '_id.level': 1 })
    .toArray()
  const logged = await engagements_by_user.find(ids ? { post: ids } : {}).toArray()
  const log = new Set(logged.map((doc) => [doc._id, doc.user, doc.kind, doc.post].join()))
  const there = new Set(stored.map(({ _id }) => _id.toHexString()))
  const problems = levels
    .filter(({ _id }) => !there.has(_id.post.toHexString()))
    .map(({ _id }) => `level ${_id.level} of the missing post ${_id.post}`)
  for (const post of stored) {
    const own = levels.filter(({ _id }) => _id.post.equals(post._id))
    if ((post.has_overflow ?? false) !== own.length > 0) {
      problems.push(`${post._id}: has_overflow is ${post.has_overflow}, levels ${own.length}`)
    }
    for (const kind of engagementKinds) {
      const list = { kind, post, levels: own.filter(({ _id }) => _id.kind === kind) }
      const entries = [...(post[kind] ?? []), ...list.levels.flatMap(({ items }) => items)]
      const found = [
        ...listProblems(list, limits),
        ...orderProblems(list),
        ...entryProblems(kind, entries),
        ...entries
          .filter(({ _id, actor }) => !log.has([_id, actor, kind, post._id].join()))
          .map(({ _id }) => `${_id} is not in the log`),
      ]
      const ref = { id: post._id.toHexString() as PostId, author: post.author as UserId }
      const seen = await walked(services, kind, ref)
      if (seen.map(({ id }) => id).join() !== idsOf(entries).reverse().join()) {
        found.push(`walked ${seen.length} of ${entries.length} entries, or in another order`)
      }
      problems.push(...found.map((problem) => `${post._id}.${kind}: ${problem}`))
    }
  }
  return problems
}

interface StoredList {
  readonly kind: EngagementKind
  readonly post: PostDoc
  readonly levels: readonly OverflowDoc[]
}

function* listProblems({ kind, post, levels }: StoredList, { threshold, capacity }: Limits) {
  const embedded = post[kind]?.length ?? 0
  const items = levels.reduce((sum, level) => sum + level.items.length, embedded)
  const counts = post.counts?.[kind] ?? 0
  if (counts !== items) yield `counts ${counts}, stored ${items}`
  const stored = post.levels?.[kind] ?? 0
  if (stored !== levels.length) yield `says ${stored} levels, has ${levels.length}`
  if (embedded > threshold) yield `${embedded} entries in the post`
  for (const { _id, count, items } of levels) {
    if (count !== items.length) yield `level ${_id.level} counts ${count}, holds ${items.length}`
    if (items.length === 0) yield `level ${_id.level} is empty`
    if (items.length > capacity) yield `level ${_id.level} holds ${items.length}`
  }
}

function* orderProblems({ kind, post, levels }: StoredList) {
  const lists = [
    { name: 'the post', first: '', items: post[kind] ?? [] },
    ...levels.map(({ _id, first, items }) => {
      return { name: `level ${_id.level}`, first: first.toHexString(), items }
    }),
  ]
  let last = ''
  for (const { name, first, items } of lists) {
    for (const { place, _id } of items) {
      const here = (place ?? _id).toHexString()
      if (here < first) yield `${name} begins at ${first} and holds ${here}`
      if (here <= last) yield `${name} holds ${here} after ${last}`
      last = here
    }
  }
  const stored = post.last?.[kind]?.toHexString() ?? ''
  if (last > stored) yield `place ${last} was given, the post says ${stored}`
}

function* entryProblems(kind: EngagementKind, entries: readonly EngagementDoc[]) {
  const keys = entries.map(({ actor, _id }) => entryKey(kind, actor, _id.toHexString()))
  for (const key of new Set(keys)) {
    const times = keys.filter((other) => other === key).length
    if (times > 1) yield `${key} is there ${times} times`
  }
}

const idsOf = (entries: readonly EngagementDoc[]) => entries.map(({ _id }) => _id.toHexString())

/** The rows of logs for these posts without an entry in a list. Without failures there are none. */
export async function strays(services: Services, posts: readonly PostRef[]): Promise<string[]> {
  const { engagements_by_user, overflow } = services.collections
  const ids = { $in: posts.map(({ id }) => toObjectId(id)) }
  const found = await services.collections.posts.find({ _id: ids }).toArray()
  const levels = await overflow.find({ '_id.post': ids }).toArray()
  const lists = [
    ...found.flatMap((post) => engagementKinds.map((kind) => post[kind] ?? [])),
    ...levels.map(({ items }) => items),
  ]
  const confirmed = new Set(idsOf(lists.flat()))
  const logged = await engagements_by_user.find({ post: ids }).toArray()
  return logged
    .filter(({ _id }) => !confirmed.has(_id.toHexString()))
    .map(({ _id, user, kind }) => `${_id}: ${user} in ${kind}`)
}
