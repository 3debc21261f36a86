import type { EntryRef } from '../engagement/engagement.ts'
import {
  type EngagementKind,
  engagementKinds,
  type KindKeyedBy,
  kinds,
} from '../engagement/kinds.ts'
import { badInput } from '../errors.ts'
import {
  type EngagementId,
  type Handle,
  handleRule,
  type PostId,
  type PostRef,
  parseHandle as parseLowerHandle,
  parseTimeId,
  parseUserId,
  type UserId,
} from '../lib/ids.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'
import type { UserRef } from '../users/api/account-mutations.ts'
import type { Subject } from '../users/subject.ts'
import { standInOf } from '../users/subjects.ts'
import type { Context } from './context.ts'

/**
 * The object that a global id names. The id of a post contains its author, part of the shard key
 * (law L5).
 */
export type NodeRef =
  | { readonly type: 'User'; readonly account: UserId }
  | { readonly type: 'Viewer' }
  | { readonly type: 'Post'; readonly post: PostRef }
  | EngagementRef

/** A reference of one type. */
export type RefOf<Type extends NodeRef['type']> = Extract<NodeRef, { readonly type: Type }>

/** An entry in a list of a post, by the key of its kind. */
export interface EngagementRef {
  readonly type: 'Engagement'
  readonly kind: EngagementKind
  readonly post: PostRef
  /** An account or an id, see {@link entryKey}. */
  readonly key: string
}

export const userNodeId = (account: UserId): string => encodeOpaque('User', account)
/** The same before and after the viewer creates an account. */
export const viewerNodeId = (subject: Subject): string => encodeOpaque('Viewer', standInOf(subject))
export const postNodeId = ({ author, id }: PostRef): string => encodeOpaque('Post', author, id)
export const engagementNodeId = ({ kind, post, key }: Omit<EngagementRef, 'type'>): string =>
  encodeOpaque(kinds[kind].node.type, post.author, post.id, key)

/** Parses the parts of the global ids of each type. Undefined: they name no object of this type. */
const parsers: {
  readonly [Type in NodeRef['type']]: (
    tag: string,
    parts: readonly string[],
  ) => RefOf<Type> | undefined
} = {
  Viewer: (tag, { length }) => (tag === 'Viewer' && length === 1 ? { type: tag } : undefined),
  User: (tag, [name = '', ...more]) => {
    const account = parseUserId(name)
    return tag === 'User' && account && more.length === 0 ? { type: tag, account } : undefined
  },
  Post: (tag, [author = '', id = '', ...more]) => {
    const post = parsePostRef(author, id)
    return tag === 'Post' && post && more.length === 0 ? { type: tag, post } : undefined
  },
  Engagement: (tag, [author = '', id = '', key = '', ...more]) => {
    const kind = engagementKinds.find((name) => kinds[name].node.type === tag)
    const post = parsePostRef(author, id)
    if (!kind || !post || !isKeyOf(kind, key) || more.length > 0) return undefined
    return { type: 'Engagement', kind, post, key }
  },
}

function parsePostRef(authorText: string, idText: string): PostRef | undefined {
  const [author, id] = [parseUserId(authorText), parseTimeId<PostId>(idText)]
  return author && id && { author, id }
}

/** The object that a global id names. Undefined if `text` is not a global id of this server. */
export function findNodeRef(text: string): NodeRef | undefined {
  const opaque = decodeOpaque(text)
  if (!opaque) return undefined
  for (const parse of Object.values(parsers)) {
    const ref = parse(opaque.tag, opaque.parts)
    if (ref) return ref
  }
  return undefined
}

/** @throws {DomainError} BAD_USER_INPUT if `text` is not a global id. */
function parseNodeId(argument: string, text: string): NodeRef {
  const ref = findNodeRef(text)
  if (!ref) throw badInput(argument, 'is not an id of this server')
  return ref
}

const isKeyOf = (kind: EngagementKind, key: string): boolean =>
  (kinds[kind].key === 'actor' ? parseUserId(key) : parseTimeId(key)) !== undefined

/** @throws {DomainError} BAD_USER_INPUT if `text` is not the global id of an entry of `kind`. */
export function parseEntryNodeId(
  argument: string,
  text: string,
  kind: KindKeyedBy<'_id'>,
): EntryRef {
  const ref = parseNodeId(argument, text)
  if (ref.type !== 'Engagement' || ref.kind !== kind) {
    throw badInput(argument, `is not the id of a ${kinds[kind].noun}`)
  }
  return { kind, post: ref.post, id: ref.key as EngagementId }
}

/** @throws {DomainError} BAD_USER_INPUT if `text` is not the global id of a post. */
export function parsePostNodeId(argument: string, text: string): PostRef {
  const ref = parseNodeId(argument, text)
  if (ref.type !== 'Post') throw badInput(argument, 'is not the id of a post')
  return ref.post
}

/** A user as a client names it: by the account, or by the handle. */
export type UserName = { readonly account: UserId } | { readonly handle: Handle }

/**
 * @throws {DomainError} BAD_USER_INPUT if the reference is neither the global id of a user nor a
 *   handle.
 */
export function parseUserRef(argument: string, { id, handle }: UserRef): UserName {
  if (id == null) return { handle: parseHandle(`${argument}.handle`, handle ?? '') }
  const ref = parseNodeId(`${argument}.id`, id)
  if (ref.type !== 'User') throw badInput(`${argument}.id`, 'is not the id of a user')
  return { account: ref.account }
}

/**
 * The account that a client names, also by a handle that it gave up and keeps: the client has not
 * seen the new one yet, and a repeat means what the first request meant. A handle without an
 * account stands for an account that does not exist. One command for a handle.
 */
export async function findAccount({ loaders }: Context, name: UserName): Promise<UserId> {
  if ('account' in name) return name.account
  return (await loaders.holder.load(name.handle)) ?? (`@${name.handle}` as UserId)
}

/**
 * Accepts a handle in any case, with or without "@".
 * @throws {DomainError} BAD_USER_INPUT if `text` is not a handle.
 */
export function parseHandle(argument: string, text: string): Handle {
  // Only ASCII letters: toLowerCase maps the Kelvin sign to "k".
  const lowered = text.replace(/^@/, '').replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const handle = parseLowerHandle(lowered)
  if (handle === undefined) throw badInput(argument, `must be a handle: ${handleRule}`)
  return handle
}
