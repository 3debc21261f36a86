import type { Answer, Answers } from './group-commit.ts'

/** The refusal of each write of a batch before its transaction, in order. Undefined for an admitted write. */
export type Refusals = readonly (Error | undefined)[]

/** Answers a batch in order: a refused write with its refusal, an admitted write with its answer from `commit`. */
export async function commitAdmitted<Op, Result>(
  ops: readonly Op[],
  refusals: Refusals | Promise<Refusals>,
  commit: (admitted: readonly Op[]) => Promise<Answers<Result>>,
): Promise<Answers<Result>> {
  const reasons = await refusals
  if (!reasons.some(Boolean)) return commit(ops)
  const admitted = ops.filter((_, at) => !reasons[at])
  const answers = admitted.length > 0 ? await commit(admitted) : []
  let next = 0
  return ops.map((_, at) => reasons[at] ?? (answers[next++] as Answer<Result>))
}
