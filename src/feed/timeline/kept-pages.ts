import type { PerKind } from '../../db/collections.ts'
import { type KeptBounds, KeptValues } from '../../db/kept-values.ts'
import { bytesOfStamp, type Stamp, type Stamping } from '../../db/stamps.ts'
import type { Subject, Versions } from '../../db/versions.ts'
import { type PostRef, timeOf, type UserId } from '../../lib/ids.ts'
import type { Content } from '../../posts/content.ts'
import { countsOf, type Post } from '../../posts/post.ts'
import type { Registered } from '../registry/registry.ts'
import type { TimelineItem, TimelineSlice } from './page.ts'
import type { AuthorFacts, KnownFacts } from './page-facts.ts'

/** A post without its counts. */
export type KeptItem = PostRef & Partial<Content>

/** A slice of a timeline without anything that changes while its stamp is current. */
export interface KeptSlice extends Omit<TimelineSlice, 'facts' | 'items'> {
  readonly items: readonly KeptItem[]
  readonly facts: readonly AuthorFacts[]
  readonly stamp: Stamp
  /** Whether the stamp covers its posts, and not only the facts about their authors. */
  readonly isPage: boolean
  /** The registrations under which it was read. Undefined for a page without candidates. */
  readonly registered: Registered | undefined
}

/** What is known about a read that was requested before. */
export interface Visit {
  /** Undefined after the first request. */
  readonly slice: KeptSlice | undefined
  /** The authors that were on it last. */
  readonly authors: readonly UserId[]
}

/** A read that may have been requested before. */
export interface RepeatedRead {
  readonly key: string
  readonly visit: Visit | undefined
  /** What has changed since the kept slice was read. Undefined without a slice. */
  readonly changed: readonly Subject[] | undefined
  readonly stamping: Stamping
}

/**
 * Pages of timelines in memory, under the versions of all that decides them. A page is kept from its second request on,
 * so a page that is not repeated costs nothing.
 */
export class KeptPages {
  private readonly visits: KeptValues<Visit>

  constructor(
    private readonly versions: Pick<Versions, 'areComplete'>,
    private readonly bounds: KeptBounds,
  ) {
    this.visits = new KeptValues('pages', bounds, bytesOf)
  }

  /**
   * Finds what is known about a read. The stamp of its slice may be out of date. Up to two commands while the database
   * does not say that all processes write versions.
   * @returns undefined for the first request of this read.
   */
  async findVisit(key: string): Promise<Visit | undefined> {
    if (this.bounds.bytesMax === 0 || !(await this.versions.areComplete())) return undefined
    return this.visits.get(key)
  }

  /** Notes a request that was not worth a stamp. */
  noteVisit(key: string, facts: readonly AuthorFacts[]): void {
    const authors = [...new Set(facts.flatMap((one) => one.authors))]
    this.visits.set(key, { slice: undefined, authors })
  }

  /** Counts whether a request was served from memory. */
  countServed(isKept: boolean): void {
    this.visits.countServed(isKept)
  }

  /**
   * Keeps a slice without its counters, which have no version.
   * @param isPage whether the stamp covers its posts too.
   */
  keep(key: string, slice: TimelineSlice, stamp: Stamp, isPage = true): void {
    const { items, facts, ...rest } = slice
    const authors = facts.flatMap((one) => one.authors)
    const kept = {
      ...{ ...rest, stamp, isPage, registered: facts.at(-1)?.registered },
      ...{ items: items.map(keptItem), facts: facts.map(keptFacts) },
    }
    this.visits.set(key, { slice: kept, authors })
  }
}

/**
 * The facts of a kept slice, for a page after a change of the stored timelines alone, or of a strategy that reads posts.
 * Without authors who had left the page when it was read last: its stamp does not cover them.
 */
export function knownFactsOf({
  items,
  facts,
  registered,
  stamp,
}: KeptSlice): KnownFacts | undefined {
  const [found, ...more] = facts
  if (!found || !registered || more.length > 0) return undefined
  const authors = found.authors.filter((author) => stamp.accounts.has(`account:${author}`))
  return {
    authors: { ...found, authors },
    registered,
    posts: new Map(items.map((item) => [item.id, item])),
  }
}

/** What of a post never changes. */
const keptItem = ({ id, author, ...rest }: TimelineItem | Post): KeptItem => {
  if (rest.text === undefined) return { id, author }
  const { facets, attachments = [] } = rest as Partial<Content>
  return {
    ...{ id, author, text: rest.text },
    ...(facets ? { facets } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
  }
}

/** A kept item, which was read with its content, as a whole post. */
export function renewedPost(item: KeptItem, counts: PerKind): Post | PostRef {
  const { id, author, text } = item
  // Its document is malformed.
  if (text === undefined) return { id, author }
  return {
    ...{ id, author, text },
    ...(item.facets ? { facets: item.facets } : {}),
    ...{ attachments: item.attachments ?? [], createdAt: timeOf(id) },
    ...countsOf(counts),
  }
}

/** Without authors that have no account: a new account raises no version, because it changes no page. */
const keptFacts = ({ authors, ...facts }: AuthorFacts): AuthorFacts => ({
  authors: authors.filter((author) => facts.live.has(author)),
  followed: facts.followed,
  restrictions: facts.restrictions,
  live: facts.live,
  profiles: facts.profiles,
  stats: undefined,
})

/** An estimate of the bytes of the registrations that a page refers to. */
const registrationBytes = 4_000

/** An estimate, rather too large: an object or a place in a map takes up to 100 bytes, a character up to two. */
function bytesOf({ slice, authors }: Visit, key: string): number {
  const known = 200 + 2 * key.length + 100 * authors.length
  return slice ? known + registrationBytes + bytesOfSlice(slice) : known
}

function bytesOfSlice({ items, facts, stamp }: KeptSlice): number {
  const ofItems = items.reduce((sum, { text = '', facets = [], attachments = [] }) => {
    const linked = attachments.reduce(
      (all, { url, alt = '', blurhash = '' }) =>
        all + 300 + 2 * (url.length + alt.length + blurhash.length),
      0,
    )
    return sum + 200 + 2 * text.length + 100 * facets.length + linked
  }, 0)
  const ofFacts = facts.reduce((sum, { authors, profiles }) => {
    const ofProfiles = [...(profiles?.values() ?? [])].reduce(
      (all, { name, bio = '', avatarUrl = '', bannerUrl = '' }) =>
        all + 500 + 2 * (name.length + bio.length + avatarUrl.length + bannerUrl.length),
      0,
    )
    return sum + 400 * authors.length + ofProfiles
  }, 0)
  return ofItems + ofFacts + bytesOfStamp(stamp)
}
