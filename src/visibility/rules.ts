import type { Account, PostFacts, RestrictionDoc } from '../db/collections.ts'
import type { PostId, UserId } from '../lib/ids.ts'

/** A restriction between two users, from the view of the first. */
export type RestrictionKind = RestrictionDoc['kind']

/** Whether there is a block between two users, in either direction. */
export const hasBlock = (kinds: ReadonlySet<RestrictionKind> | undefined): boolean =>
  kinds !== undefined && (kinds.has('BLOCK') || kinds.has('BLOCKED_BY'))

/**
 * What a viewer asks to do with a subject:
 * - TIMELINE: see a post in a timeline. AUTHOR: see the posts of an author there. FOLLOWEE: have
 *   the posts of a followee proposed for it;
 * - POST: see a post wherever an answer shows it, or engage with it;
 * - PERSON: see a profile and its numbers. LISTS: see the lists of a user and of their posts, and
 *   which followees a user and the viewer have in common;
 * - ENTRY: see what a user did: likes, comments, shares and follows;
 * - ACCOUNT: see in a list that a user exists, as in the viewer's own mutes and blocks;
 * - FOLLOW: follow a user;
 * - SUGGESTION: have a user suggested.
 */
export type Purpose =
  | 'TIMELINE'
  | 'AUTHOR'
  | 'FOLLOWEE'
  | 'POST'
  | 'PERSON'
  | 'LISTS'
  | 'ENTRY'
  | 'ACCOUNT'
  | 'FOLLOW'
  | 'SUGGESTION'

/** A user, or a post of this user. */
export interface Subject {
  readonly user: UserId
  readonly post?: PostId | undefined
}

interface Among<T> {
  has(item: T): boolean
}

/** What rules decide by: facts about a viewer and all subjects of one read. */
export interface Facts {
  /** The accounts of users. */
  readonly live: ReadonlyMap<UserId, Account>
  /** The users that the viewer follows. */
  readonly followed: Among<UserId>
  /** The followees in the group that is asked for. Undefined: none is asked for. */
  readonly members: Among<UserId> | undefined
  /** The mutes and blocks between the viewer and users. */
  readonly restrictions: ReadonlyMap<UserId, ReadonlySet<RestrictionKind>>
  /** The existing posts. */
  readonly posts: ReadonlyMap<PostId, PostFacts>
}

/** A reason to hide a subject from a viewer. */
interface Rule<Fact extends keyof Facts> {
  /** As an English sentence, for whyNotInTimeline. */
  readonly meaning: string
  /** The purposes that the rule forbids. */
  readonly forbids: readonly Purpose[]
  /** The facts that it depends on. Each caller must have them. */
  readonly facts: readonly Fact[]
  readonly hides: (
    viewer: UserId | undefined,
    subject: Subject,
    facts: Pick<Facts, Fact>,
  ) => boolean
}

/**
 * Keeps the literal types of a rule, from which {@link FactsFor} derives what a caller must know.
 */
const rule = <const P extends readonly Purpose[], const F extends readonly (keyof Facts)[]>(
  descriptor: Rule<F[number]> & { readonly forbids: P; readonly facts: F },
) => descriptor

/** The one decision who sees what: each reason to hide a subject is a row. */
export const rules = {
  POST_DELETED: rule({
    meaning: 'The post does not exist, or was deleted.',
    forbids: ['TIMELINE'],
    facts: ['posts', 'live', 'restrictions'],
    // A block also hides whether the post exists (law L6).
    hides: (_, { user, post }, { posts, live, restrictions }) =>
      post !== undefined && !posts.has(post) && live.has(user) && !hasBlock(restrictions.get(user)),
  }),
  AUTHOR_DELETED: rule({
    meaning: 'The author no longer has an account.',
    forbids: ['TIMELINE', 'AUTHOR', 'POST', 'ENTRY', 'ACCOUNT', 'SUGGESTION'],
    facts: ['live'],
    hides: (_, { user }, { live }) => !live.has(user),
  }),
  NOT_FOLLOWED: rule({
    meaning: 'The viewer does not follow the author.',
    forbids: ['TIMELINE', 'AUTHOR'],
    facts: ['followed'],
    hides: (viewer, { user }, { followed }) => user !== viewer && !followed.has(user),
  }),
  MUTED: rule({
    meaning: 'The viewer muted the author.',
    forbids: ['TIMELINE', 'AUTHOR', 'FOLLOWEE', 'SUGGESTION'],
    facts: ['restrictions'],
    hides: (viewer, { user }, { restrictions }) =>
      user !== viewer && restrictions.get(user)?.has('MUTE') === true,
  }),
  BLOCKED: rule({
    meaning: 'The viewer blocked the author, or the author blocked the viewer.',
    forbids: [
      ...(['TIMELINE', 'AUTHOR', 'FOLLOWEE', 'POST', 'PERSON'] as const),
      ...(['LISTS', 'ENTRY', 'FOLLOW', 'SUGGESTION'] as const),
    ],
    facts: ['restrictions'],
    hides: (viewer, { user }, { restrictions }) =>
      user !== viewer && hasBlock(restrictions.get(user)),
  }),
  NOT_IN_GROUP: rule({
    meaning: "The author is not in the requested group. The viewer's own posts are in no group.",
    forbids: ['TIMELINE', 'AUTHOR'],
    facts: ['members', 'followed'],
    hides: (viewer, { user }, { members, followed }) =>
      members !== undefined && (user === viewer || followed.has(user)) && !members.has(user),
  }),
  ALREADY_FOLLOWED: rule({
    meaning: 'The viewer follows the user.',
    forbids: ['SUGGESTION'],
    facts: ['followed'],
    hides: (_, { user }, { followed }) => followed.has(user),
  }),
} as const

type Rules = typeof rules
/** The names of the rules that forbid a purpose. */
export type RuleFor<P extends Purpose> = {
  [Name in keyof Rules]: P extends Rules[Name]['forbids'][number] ? Name : never
}[keyof Rules]
/** The names of the facts that decide a purpose. */
export type FactFor<P extends Purpose> = Rules[RuleFor<P>]['facts'][number]
/**
 * The facts that decide a purpose. A rule that needs another fact does not compile until all
 * callers have it.
 */
export type FactsFor<P extends Purpose> = Pick<Facts, FactFor<P>>

const all = Object.entries(rules) as [keyof Rules, Rule<keyof Facts>][]

const byPurpose = new Map<Purpose, typeof all>()
for (const row of all) {
  for (const purpose of row[1].forbids)
    byPurpose.set(purpose, [...(byPurpose.get(purpose) ?? []), row])
}

/** The rules that forbid a purpose, in the order of the table. */
export const rulesFor = <P extends Purpose>(purpose: P) =>
  (byPurpose.get(purpose) ?? []) as unknown as readonly [RuleFor<P>, Rule<FactFor<P>>][]

/** The names of the facts that decide a purpose. */
export const factsFor = <P extends Purpose>(purpose: P): FactFor<P>[] => [
  ...new Set(rulesFor(purpose).flatMap(([, { facts }]) => facts)),
]

/**
 * All reasons to hide a subject from a viewer, in the order of the table. Undefined: an anonymous
 * viewer.
 */
export const reasonsToHide = <P extends Purpose>(
  purpose: P,
  viewer: UserId | undefined,
  subject: Subject,
  facts: FactsFor<P>,
): RuleFor<P>[] =>
  rulesFor(purpose).flatMap(([name, { hides }]) => (hides(viewer, subject, facts) ? [name] : []))

/** Whether a viewer may do something with a subject. Undefined: an anonymous viewer. */
export const isShown = <P extends Purpose>(
  purpose: P,
  viewer: UserId | undefined,
  subject: Subject,
  facts: FactsFor<P>,
): boolean => !rulesFor(purpose).some(([, { hides }]) => hides(viewer, subject, facts))
