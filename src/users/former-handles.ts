import type { FormerHandle, UserDoc } from '../db/collections.ts'
import { DomainError } from '../errors.ts'
import type { Handle } from '../lib/ids.ts'

/** The most handles that an account keeps after it gave them up. */
const formerHandlesMax = 5

/** The former handles of an account that takes a handle. */
export interface KeptHandles {
  /** Those that it goes on keeping. */
  readonly kept: readonly FormerHandle[]
  /** Whether it keeps the handle that it takes, also a reserved one. */
  readonly isKept: boolean
  /** Why it cannot keep one more, undefined if it can. */
  readonly refusal: DomainError | undefined
}

/**
 * The former handles that an account keeps if it takes a handle. What is free by now, and the
 * handle itself, do not count.
 * @param nowMs in milliseconds since 1970.
 */
export function keptBeside(
  { formerHandles = [] }: Pick<UserDoc, 'formerHandles'>,
  handle: Handle,
  nowMs: number,
): KeptHandles {
  const former = formerHandles.filter(({ until }) => until.getTime() > nowMs)
  const kept = former.filter((one) => one.handle !== handle)
  const refusal = kept.length < formerHandlesMax ? undefined : tooManyHandles(kept)
  return { kept, isKept: kept.length < former.length, refusal }
}

function tooManyHandles(kept: readonly FormerHandle[]): DomainError {
  const first = kept.reduce((one, other) => (one.until < other.until ? one : other))
  return new DomainError(
    'CONFLICT',
    `The account keeps ${kept.length} former handles. Change the handle after ${first.until.toISOString()}, or take one of them again.`,
    { argument: 'input.handle' },
  )
}
