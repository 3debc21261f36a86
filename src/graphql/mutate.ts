import { createIdempotencyKey, type IdempotencyKey } from '../db/idempotency.ts'
import { runToEnd } from '../db/request-time.ts'
import { unknownOutcome } from '../db/transaction.ts'
import {
  badInput,
  badInputs,
  type Checks,
  checkAll,
  type ResultsOf,
  wrongArgumentsOf,
} from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { unicodeProblem } from '../lib/text.ts'
import { within } from '../lib/within.ts'
import { presentViewer } from '../users/api/present-users.ts'
import type { Context } from './context.ts'
import type { MutationInput } from './mutation-types.ts'

/** The most characters of a clientMutationId. */
export const idLengthMax = 128

/** The most time until the answer to a mutation, in milliseconds. */
const answerMsMax = 9_000

/** The steps of a mutation, in order. */
interface Steps<
  Input extends MutationInput,
  Parsers extends Checks,
  Found extends object,
  Result extends object,
> {
  /** Parse the arguments that the service takes in another form. */
  readonly parse?: Parsers
  /** Reads what the parsed arguments name. */
  readonly find?: (parsed: ResultsOf<Parsers>) => Promise<Found>
  /**
   * Checks the other arguments, as the service does in `run`. Called only if an argument is wrong
   * already, so that the error names all.
   * @throws {DomainError} BAD_USER_INPUT.
   */
  readonly check?: (viewer: UserId) => unknown
  /** What of the input is in the idempotency key. Default: all. */
  readonly identify?: (input: Input, found: Found) => object
  /** Changes data. */
  readonly run: (call: ResultsOf<Parsers> & Found & Call) => Promise<Result>
}

interface Call {
  readonly viewer: UserId
  readonly idempotencyKey: IdempotencyKey | undefined
}

/**
 * Runs a mutation as the viewer, once for each clientMutationId (law L4), and then drops the
 * loaders. Answers within 9 s. A mutation that has begun ends, also if the client is gone.
 * @param name the name of the mutation, part of the idempotency key.
 * @returns the result, with what payloads have in common.
 * @throws {DomainError} UNAUTHENTICATED; BAD_USER_INPUT that names all wrong arguments, without any
 *   effect; UNAVAILABLE after 9 s; the errors of the mutation.
 */
export async function mutate<
  Input extends MutationInput,
  Parsers extends Checks,
  Result extends object,
  Found extends object = object,
>(
  ctx: Context,
  name: string,
  input: Input,
  { parse, find, check, identify = (input) => input, run }: Steps<Input, Parsers, Found, Result>,
): Promise<Result & { clientMutationId: string | null; viewer: object }> {
  const viewer = ctx.requireViewer()
  const checks = {
    parsed: () => checkAll(parse ?? ({} as Parsers)),
    clientMutationId: () => parseClientMutationId(input),
  }
  const { parsed, clientMutationId } = await checkBeside(checks, () => check?.(viewer))
  try {
    const named = (await find?.(parsed)) ?? ({} as Found)
    const identified = {
      ...identify(input, named),
      clientMutationId: ctx.scopedId(clientMutationId),
    }
    const idempotencyKey = createIdempotencyKey(viewer, name, identified)
    const running = runToEnd(() => run({ ...parsed, ...named, viewer, idempotencyKey }))
    const result = await within(answerMsMax, running, unknownOutcome)
    return {
      ...result,
      clientMutationId: clientMutationId ?? null,
      viewer: presentViewer(ctx),
    }
  } finally {
    ctx.forget()
  }
}

/** As `checkAll`. If it refuses arguments, the error also names those that `rest` refuses. */
async function checkBeside<Of extends Checks>(
  checks: Of,
  rest: () => unknown,
): Promise<ResultsOf<Of>> {
  try {
    return checkAll(checks)
  } catch (error) {
    const wrong = wrongArgumentsOf(error)
    const more = await Promise.resolve()
      .then(rest)
      .then(() => [], wrongArgumentsOf)
    throw badInputs([...wrong, ...more])
  }
}

function parseClientMutationId({ clientMutationId: id }: MutationInput): string | undefined {
  const argument = 'input.clientMutationId'
  if (id == null) return undefined
  if (id.length > idLengthMax) {
    throw badInput(argument, `must be at most ${idLengthMax} characters`)
  }
  // MongoDB stores every unpaired surrogate as the same character, so two different ids would be
  // equal.
  const problem = unicodeProblem(id)
  if (problem) throw badInput(argument, problem)
  return id
}
