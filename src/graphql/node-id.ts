import { badInput } from '../errors.ts'
import {
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

export const userNodeId = (handle: UserId): string => encodeOpaque('User', handle)
export const postNodeId = ({ author, id }: PostRef): string => encodeOpaque('Post', author, id)
/** The cursor of whatever stands at `id` in a list; it needs nothing to stand there any more. */
export const cursorOf = (id: TimeId): string => encodeOpaque('Cursor', id)

/** @throws {DomainError} BAD_USER_INPUT when this server did not make `text`. */
export function parseNodeId(argument: string, text: string): NodeRef {
  const { tag, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  const handle = parseUserId(parts[0] ?? '')
  if (tag === 'User' && handle && parts.length === 1) return { type: 'User', handle }
  const id = parseTimeId<PostId>(parts[1] ?? '')
  if (tag === 'Post' && handle && id && parts.length === 2) {
    return { type: 'Post', post: { id, author: handle } }
  }
  throw badInput(argument, 'is not an id that this server made')
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
  if (id === undefined) throw badInput(argument, 'is not a cursor that this server made')
  return id
}

/** @throws {DomainError} BAD_USER_INPUT when `text` cannot be a handle. */
export function parseHandle(argument: string, text: string): UserId {
  const handle = parseUserId(text)
  if (handle === undefined) throw badInput(argument, `must be a handle: ${handleRule}`)
  return handle
}
