import { type OnceKey, onceKey } from '../db/once.ts'
import { badInput } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { unicodeProblem } from '../lib/text.ts'
import type { Context } from './context.ts'
import type { MutationInput } from './inputs.ts'

const idLengthMax = 128

/**
 * Runs a mutation as the viewer, once for each clientMutationId (law L4), and forgets what was read before it.
 * @param name of the mutation: part of what a repeat must match.
 * @throws {DomainError} UNAUTHENTICATED, or what the mutation throws.
 */
export async function mutate<Input extends MutationInput, Result extends object>(
  ctx: Context,
  name: string,
  input: Input,
  run: (viewer: UserId, once: OnceKey | undefined) => Promise<Result>,
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
    const result = await run(viewer, onceKey(viewer, name, { ...input, clientMutationId }))
    return { ...result, clientMutationId: clientMutationId ?? null }
  } finally {
    ctx.forget()
  }
}
