import type { PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'

/** The users and the post that one row of the table damages. Rows share no users and posts. */
export interface Scene {
  readonly services: Services
  /** `a` follows `b`. The three users have no other relations. */
  readonly a: UserId
  readonly b: UserId
  readonly c: UserId
  /** A handle without an account. */
  readonly x: UserId
  /** A post by `b`, with seven likes and two shares. */
  readonly post: PostRef
}

/** A kind of damage that bypasses the services. */
export interface Damage {
  readonly name: string
  /**
   * The findings by which `verify` notices it, the first one in the table: law, kind and subject.
   */
  readonly noticed: (scene: Scene) => readonly string[]
  readonly answer: 'repaired' | 'reported'
  /** Why it is only reported, or the state after the repair if it differs from the state before. */
  readonly how?: string
  /** The effect that clients see until the repair. */
  readonly clients: string
  /** The state after the repair is not the one before the damage. */
  readonly endsOtherwise?: true
  /** The damage needs two collections of edges. */
  readonly only?: 'collection'
  readonly inject: (scene: Scene) => Promise<unknown>
}

/** Adds to counters of a user without a change of the counted data. */
export const addToCounters = ({ services }: Scene, _id: string, by: Record<string, number>) =>
  services.collections.user_stats.updateOne({ _id }, { $inc: by })

const cells = ({ name, answer, how, clients }: Damage, noticed: string) => [
  name,
  `\`${noticed}\``,
  how ? `${answer}: ${how}` : answer,
  clients,
]

const anyScene = { a: 'a', b: 'b', c: 'c', x: 'x', post: { id: '' } } as unknown as Scene

/** The law and the kind of the finding by which `verify` notices a damage. */
export const noticedAs = (damage: Damage): string =>
  damage.noticed(anyScene)[0]?.split(' ').slice(0, 2).join(' ') ?? ''

/** The table of the documentation. */
export const tableOf = (damages: readonly Damage[]): string => {
  const head = ['damage', 'noticed as', 'answer of `reconcile`', 'until then clients see']
  const rows = [head, head.map(() => '---'), ...damages.map((one) => cells(one, noticedAs(one)))]
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}
