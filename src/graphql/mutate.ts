import { createIdempotencyKey, type IdempotencyKey } from '../db/idempotency.ts'
import { unknownOutcome } from '../db/transaction.ts'
import { badInput } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { unicodeProblem } from '../lib/text.ts'
import { within } from '../lib/within.ts'
import type { Context } from './context.ts'
import type { MutationInput } from './inputs.ts'

const idLengthMax = 128

/** The longest that a mutation waits, however many waits for the database follow each other, in milliseconds. */
const answerMsMax = 9_000

/**
 * Runs a mutation as the viewer, once for each clientMutationId (law L4), and forgets what was read before it.
 * The caller has its answer within 9 s.
 * @param name of the mutation: part of what a repeat must match.
 * @throws {DomainError} UNAUTHENTICATED, UNAVAILABLE when it took too long, or what the mutation throws.
 */
export async function mutate<Input extends MutationInput, Result extends object>(
  ctx: Context,
  name: string,
  input: Input,
  run: (viewer: UserId, idempotencyKey: IdempotencyKey | undefined) => Promise<Result>,
): Promise<Result & { clientMutationId: string | null }> {
  const viewer = ctx.requireViewer()
  const clientMutationId = input.clientMutationId ?? undefined
  if (
    clientMutationId !== undefined &&
    (clientMutationId === '' || clientMutationId.length > idLengthMax)
  ) {
    throw badInput('input.clientMutationId', `must be 1 to ${idLengthMax} characters`)
  }
  // MongoDB would store every half of a pair as the same character, and so take two ids for one.
  const problem = unicodeProblem(clientMutationId ?? '')
  if (problem) throw badInput('input.clientMutationId', problem)
  try {
    const idempotencyKey = createIdempotencyKey(viewer, name, { ...input, clientMutationId })
    const result = await within(answerMsMax, run(viewer, idempotencyKey), unknownOutcome)
    return { ...result, clientMutationId: clientMutationId ?? null }
  } finally {
    ctx.forget()
  }
}
