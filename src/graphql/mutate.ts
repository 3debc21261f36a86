import { createIdempotencyKey, type IdempotencyKey } from '../db/idempotency.ts'
import { runToEnd } from '../db/request-time.ts'
import { unknownOutcome } from '../db/transaction.ts'
import { badInput } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { unicodeProblem } from '../lib/text.ts'
import { within } from '../lib/within.ts'
import type { Context } from './context.ts'
import type { MutationInput } from './inputs.ts'
import { presentViewer } from './present.ts'

/** The most characters of a clientMutationId. */
export const idLengthMax = 128

/** The most time until the answer to a mutation, in milliseconds. */
const answerMsMax = 9_000

/**
 * Runs a mutation as the viewer, once for each clientMutationId (law L4), and then drops the loaders. Answers within 9
 * s. A mutation that has begun ends, also if the client is gone.
 * @param name the name of the mutation, part of the idempotency key.
 * @returns the result, with what payloads have in common.
 * @throws {DomainError} UNAUTHENTICATED; UNAVAILABLE after 9 s; the errors of the mutation.
 */
export async function mutate<Input extends MutationInput, Result extends object>(
  ctx: Context,
  name: string,
  input: Input,
  run: (viewer: UserId, idempotencyKey: IdempotencyKey | undefined) => Promise<Result>,
): Promise<Result & { clientMutationId: string | null; viewer: object }> {
  const viewer = ctx.requireViewer()
  const clientMutationId = input.clientMutationId ?? undefined
  if (
    clientMutationId !== undefined &&
    (clientMutationId === '' || clientMutationId.length > idLengthMax)
  ) {
    throw badInput('input.clientMutationId', `must be 1 to ${idLengthMax} characters`)
  }
  // MongoDB stores every unpaired surrogate as the same character, so two different ids would be equal.
  const problem = unicodeProblem(clientMutationId ?? '')
  if (problem) throw badInput('input.clientMutationId', problem)
  try {
    const idempotencyKey = createIdempotencyKey(viewer, name, { ...input, clientMutationId })
    const running = runToEnd(() => run(viewer, idempotencyKey))
    const result = await within(answerMsMax, running, unknownOutcome)
    return {
      ...result,
      clientMutationId: clientMutationId ?? null,
      viewer: presentViewer(viewer),
    }
  } finally {
    ctx.forget()
  }
}
