import { badInput } from '../errors.ts'
import {
  type EngagementId,
  handleRule,
  type PostId,
  type PostRef,
  parseTimeId,
  parseUserId,
  type TimeId,
  type UserId,
} from '../lib/ids.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'

/** What a global id names. A post's carries its author, so that every command on it knows its shard (law L5). */
export type NodeRef =
  | { readonly type: 'User'; readonly handle: UserId }
  | { readonly type: 'Post'; readonly post: PostRef }
  | EngagementRef

/** A like or share is known by who did it, a comment by an id of its own. */
export interface EngagementRef {
  readonly type: 'Like' | 'Comment' | 'Share'
  readonly post: PostRef
  readonly key: string
}

export const userNodeId = (handle: UserId): string => encodeOpaque('User', handle)
export const postNodeId = ({ author, id }: PostRef): string => encodeOpaque('Post', author, id)
export const engagementNodeId = ({ type, post, key }: EngagementRef): string =>
  encodeOpaque(type, post.author, post.id, key)
/** The cursor of whatever stands at `id` in a list; it needs nothing to stand there any more. */
export const cursorOf = (id: TimeId): string => encodeOpaque('Cursor', id)

/** @throws {DomainError} BAD_USER_INPUT when this server did not make `text`. */
export function parseNodeId(argument: string, text: string): NodeRef {
  const { tag, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  const [name = '', post = '', key = ''] = parts
  const handle = parseUserId(name)
  if (tag === 'User' && handle && parts.length === 1) return { type: 'User', handle }
  const id = parseTimeId<PostId>(post)
  if (handle && id) {
    const ref = { id, author: handle }
    if (tag === 'Post' && parts.length === 2) return { type: 'Post', post: ref }
    if (parts.length === 3 && (tag === 'Like' || tag === 'Share') && parseUserId(key)) {
      return { type: tag, post: ref, key }
    }
    if (parts.length === 3 && tag === 'Comment' && parseTimeId(key)) {
      return { type: tag, post: ref, key }
    }
  }
  throw badInput(argument, 'is not an id of this server')
}

/** @throws {DomainError} BAD_USER_INPUT when `text` is not the id of a comment. */
export function parseCommentNodeId(
  argument: string,
  text: string,
): { readonly post: PostRef; readonly id: EngagementId } {
  const ref = parseNodeId(argument, text)
  if (ref.type !== 'Comment') throw badInput(argument, 'is not the id of a comment')
  return { post: ref.post, id: ref.key as EngagementId }
}

/** @throws {DomainError} BAD_USER_INPUT when `text` is not the id of a post. */
export function parsePostNodeId(argument: string, text: string): PostRef {
  const ref = parseNodeId(argument, text)
  if (ref.type !== 'Post') throw badInput(argument, 'is not the id of a post')
  return ref.post
}

/** @throws {DomainError} BAD_USER_INPUT when `text` is not a cursor. */
export function parseCursor(argument: string, text: string): TimeId {
  const { tag, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  const id = tag === 'Cursor' && parts.length === 1 ? parseTimeId(parts[0] ?? '') : undefined
  if (id === undefined) throw badInput(argument, 'is not a cursor of this server')
  return id
}

/** @throws {DomainError} BAD_USER_INPUT when `text` cannot be a handle. */
export function parseHandle(argument: string, text: string): UserId {
  const handle = parseUserId(text)
  if (handle === undefined) throw badInput(argument, `must be a handle: ${handleRule}`)
  return handle
}
