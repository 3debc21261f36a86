import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { isSubject } from '../users/subject.ts'
import { findNodeRef } from './node-id.ts'

/** The header by which a server names the user that it acts for. */
export const actForHeader = 'feedline-act-for'

/** The user that a server acts for: an account, or a subject of the issuer of its token. */
export type ActFor = { readonly account: UserId } | { readonly sub: string }

/** The refusal of the header. */
export const refusedActing = (
  code: 'BAD_REQUEST' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND',
  problem: string,
): DomainError => new DomainError(code, `Feedline-Act-For: ${problem}`)

/**
 * Reads `account:<global id of a user>` or `subject:<sub>`. A subject is percent-encoded, so that
 * no list of values, which a proxy may make of two headers, is one.
 * @param headers the values of all headers of the request, at least one.
 * @throws {DomainError} BAD_REQUEST.
 */
export function parseActFor([header = '', ...more]: readonly string[]): ActFor {
  if (more.length > 0) throw refusedActing('BAD_REQUEST', 'send the header only once')
  const [, form, value = ''] = /^(account|subject):(.+)$/.exec(header) ?? []
  if (form === 'account') {
    const ref = findNodeRef(value)
    if (ref?.type === 'User') return { account: ref.account }
  }
  const sub = form === 'subject' ? decoded(value) : undefined
  if (isSubject(sub)) return { sub }
  throw refusedActing(
    'BAD_REQUEST',
    'expected "account:" and the global id of a user, or "subject:" and a percent-encoded subject',
  )
}

/** What `encodeURIComponent` made a text of. Undefined for another text. */
function decoded(text: string): string | undefined {
  if (!/^(?:[\w.~!'()*-]|%[\da-f]{2})+$/i.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
