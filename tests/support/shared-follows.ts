import { clientErrorOf } from '../../src/db/errors.ts'
import { DomainError } from '../../src/errors.ts'
import type { FollowChange } from '../../src/follows/decide-follow.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { handle, openAccounts, type ServicesHarness } from './services.ts'

let scenes = 0

/**
 * Opens accounts: a celebrity, a user whose follow commits while other follows arrive, and `count`
 * more users.
 */
export async function newScene({ services }: ServicesHarness, count: number) {
  const prefix = `t${scenes++}-`
  const users = Array.from({ length: count + 2 }, (_, n) => handle(`${prefix}u${n}`))
  await openAccounts(services, users)
  const [star, opener, ...fans] = users as [UserId, UserId, ...UserId[]]
  return { prefix, star, opener, fans }
}

/** The result or the error that a client receives. */
export async function resultOf(work: Promise<FollowChange>) {
  try {
    return { result: await work }
  } catch (error) {
    const known = error instanceof DomainError ? error : clientErrorOf(error)
    if (!known) throw error
    return { code: known.code, message: known.message }
  }
}
