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
  handleRule,
  type PostId,
  type PostRef,
  parseTimeId,
  parseUserId,
  type UserId,
} from '../lib/ids.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'
import type { UserRef } from './inputs.ts'

/** The object that a global id names. The id of a post contains its author, part of the shard key (law L5). */
export type NodeRef =
  | { readonly type: 'User'; readonly handle: UserId }
  | { readonly type: 'Viewer'; readonly handle: UserId }
  | { readonly type: 'Post'; readonly post: PostRef }
  | EngagementRef

/** An entry in a list of a post, by the key of its kind. */
export interface EngagementRef {
  readonly type: 'Engagement'
  readonly kind: EngagementKind
  readonly post: PostRef
  /** A handle or an id, see {@link entryKey}. */
  readonly key: string
}

export const userNodeId = (handle: UserId): string => encodeOpaque('User', handle)
export const viewerNodeId = (handle: UserId): string => encodeOpaque('Viewer', handle)
export const postNodeId = ({ author, id }: PostRef): string => encodeOpaque('Post', author, id)
export const engagementNodeId = ({ kind, post, key }: Omit<EngagementRef, 'type'>): string =>
  encodeOpaque(kinds[kind].node.type, post.author, post.id, key)

/** The object that a global id names. Undefined if `text` is not a global id of this server. */
export function findNodeRef(text: string): NodeRef | undefined {
  const { tag, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  const [name = '', post = '', key = ''] = parts
  const handle = parseUserId(name)
  if ((tag === 'User' || tag === 'Viewer') && handle && parts.length === 1) {
    return { type: tag, handle }
  }
  const id = parseTimeId<PostId>(post)
  if (handle && id) {
    const ref = { id, author: handle }
    if (tag === 'Post' && parts.length === 2) return { type: 'Post', post: ref }
    const kind = engagementKinds.find((name) => kinds[name].node.type === tag)
    if (kind && parts.length === 3 && isKeyOf(kind, key)) {
      return { type: 'Engagement', kind, post: ref, key }
    }
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

/** @throws {DomainError} BAD_USER_INPUT if the reference is neither the global id of a user nor a handle. */
export function parseUserRef(argument: string, { id, handle }: UserRef): UserId {
  if (id == null) return parseHandle(`${argument}.handle`, handle ?? '')
  const ref = parseNodeId(`${argument}.id`, id)
  if (ref.type !== 'User') throw badInput(`${argument}.id`, 'is not the id of a user')
  return ref.handle
}

/**
 * Accepts a handle in any case, with or without "@".
 * @throws {DomainError} BAD_USER_INPUT if `text` is not a handle.
 */
export function parseHandle(argument: string, text: string): UserId {
  // Only ASCII letters: toLowerCase maps the Kelvin sign to "k".
  const lowered = text.replace(/^@/, '').replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const handle = parseUserId(lowered)
  if (handle === undefined) throw badInput(argument, `must be a handle: ${handleRule}`)
  return handle
}
