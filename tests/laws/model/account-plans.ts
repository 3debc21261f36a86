import fc from 'fast-check'

/** The numbers of a subject and of a handle. */
interface Claim {
  readonly subject: number
  readonly handle: number
}

/** A step of a history of four subjects and six handles. */
export type AccountStep =
  | ({ readonly kind: 'register'; readonly isKeyed: boolean } & Claim)
  | ({ readonly kind: 'rename' } & Claim)
  /** Takes a former handle again. */
  | { readonly kind: 'renameBack'; readonly subject: number; readonly nth: number }
  | { readonly kind: 'delete'; readonly subject: number }
  /** Ends the removal of deleted accounts. */
  | { readonly kind: 'purge' }
  /** Lets the time pass for which a subject, or a handle, is kept. */
  | { readonly kind: 'wait'; readonly for: 'subject' | 'handle' }
  /**
   * Deletes the account, ends it, and registers again as soon as that is allowed, or also before.
   */
  | ({ readonly kind: 'return'; readonly isKeyed: boolean; readonly isEarly: boolean } & Claim)
  /** Sends the first createUser and createPost of a subject again. */
  | { readonly kind: 'repeat'; readonly subject: number }
  | RelationStep
  | ({ readonly kind: 'post'; readonly mentioned: number; readonly isKeyed: boolean } & Claim)

/**
 * A change of a relation to the account with a handle, or to an account by its id, also if it is
 * deleted.
 */
export interface RelationStep {
  readonly kind: 'follow' | 'unfollow' | 'mute' | 'unmute' | 'block' | 'unblock' | 'group'
  readonly subject: number
  readonly to: { readonly handle: number } | { readonly account: number }
}

/** A history that begins with four accounts. */
export interface AccountPlan {
  readonly edges: readonly (readonly [number, number])[]
  readonly steps: readonly AccountStep[]
}

const subject = fc.nat(3)
const handle = fc.nat(5)
const isKeyed = fc.boolean()
const kindOf = <K extends string>(kind: K) => fc.constant(kind)

const relation: fc.Arbitrary<RelationStep> = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: kindOf('follow') },
    ...(['unfollow', 'mute', 'unmute', 'block', 'unblock'] as const).map((kind) => ({
      weight: 2,
      arbitrary: kindOf(kind),
    })),
    { weight: 4, arbitrary: kindOf('group') },
  ),
  subject,
  to: fc.oneof(fc.record({ handle }), fc.record({ account: fc.nat(7) })),
})

const step: fc.Arbitrary<AccountStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: kindOf('register'), subject, handle, isKeyed }),
  },
  { weight: 12, arbitrary: fc.record({ kind: kindOf('rename'), subject, handle }) },
  { weight: 3, arbitrary: fc.record({ kind: kindOf('renameBack'), subject, nth: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ kind: kindOf('delete'), subject }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'purge' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kindOf('wait'),
      for: fc.constantFrom('subject' as const, 'handle' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: kindOf('return'),
      ...{ subject, handle, isKeyed, isEarly: fc.boolean() },
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kindOf('repeat'), subject }) },
  { weight: 10, arbitrary: relation },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: kindOf('post'),
      ...{ subject, handle, mentioned: handle, isKeyed },
    }),
  },
)

export const anyAccountPlan: fc.Arbitrary<AccountPlan> = fc.record({
  edges: fc.array(fc.tuple(subject, subject), { minLength: 4, maxLength: 10, size: 'max' }),
  steps: fc.array(step, { minLength: 8, maxLength: 24, size: 'max' }),
})

const [ann, ben, eve, fay] = [0, 1, 4, 5]

/** Handles change, are kept, and get other accounts. Then an account returns. */
export const renamesAndReturn: AccountPlan = {
  edges: [
    [0, 1],
    [1, 0],
    [2, 0],
    [2, 1],
  ],
  steps: [
    { kind: 'mute', subject: 3, to: { handle: ben } },
    { kind: 'block', subject: 1, to: { handle: 3 } },
    { kind: 'group', subject: 2, to: { handle: ann } },
    { kind: 'post', subject: 2, handle: ann, mentioned: ben, isKeyed: false },
    { kind: 'rename', subject: 0, handle: eve },
    { kind: 'rename', subject: 1, handle: ann },
    { kind: 'rename', subject: 0, handle: fay },
    { kind: 'renameBack', subject: 0, nth: 1 },
    { kind: 'wait', for: 'handle' },
    { kind: 'rename', subject: 1, handle: ann },
    { kind: 'post', subject: 2, handle: ann, mentioned: ben, isKeyed: false },
    { kind: 'return', subject: 1, handle: ben, isKeyed: true, isEarly: true },
    { kind: 'repeat', subject: 1 },
    { kind: 'follow', subject: 1, to: { handle: eve } },
    { kind: 'return', subject: 0, handle: ann, isKeyed: true, isEarly: false },
    { kind: 'follow', subject: 2, to: { account: 5 } },
    { kind: 'repeat', subject: 0 },
    { kind: 'repeat', subject: 0 },
  ],
}
