import type { RestrictionDoc } from '../db/collections.ts'
import { groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'
import {
  type FactFor,
  type Facts,
  type FactsFor,
  factsFor,
  isShown,
  type Purpose,
  type RestrictionKind,
} from './rules.ts'

/** Reads one fact about a viewer and some users, for all of them together. */
type ReadFact<Fact extends keyof Facts> = (
  users: readonly UserId[],
  viewer: UserId,
) => Promise<Facts[Fact]>

/** The facts that users alone decide, and how they are read: by one command each, or by the loaders of a request. */
export interface FactReads {
  readonly live: (users: readonly UserId[]) => Promise<Facts['live']>
  readonly followed: ReadFact<'followed'>
  readonly restrictions: ReadFact<'restrictions'>
}

/** The purposes that {@link FactReads} decide. */
export type UserPurpose = {
  [P in Purpose]: FactFor<P> extends keyof FactReads ? P : never
}[Purpose]

const noFacts: Pick<Facts, keyof FactReads> = {
  live: new Set(),
  followed: new Set(),
  restrictions: new Map(),
}

/** The fact of restrictions that were read of one owner. */
export const restrictionsIn = (
  docs: readonly Pick<RestrictionDoc, 'other' | 'kind'>[],
): Map<UserId, Set<RestrictionKind>> =>
  new Map(
    [...groupBy(docs, ({ other }) => other as UserId)].map(([other, own]) => [
      other,
      new Set(own.map(({ kind }) => kind)),
    ]),
  )

/** What one viewer may see. Every list, answer and admission about users asks it. */
export class Visibility {
  /** @param viewer undefined for an anonymous request, which follows, mutes and blocks no one. */
  constructor(
    readonly viewer: UserId | undefined,
    private readonly reads: FactReads,
  ) {}

  /** Loads the facts that decide a purpose, for all users together. At most one read for each fact, at the same time. */
  async load<P extends UserPurpose>(purpose: P, users: readonly UserId[]): Promise<FactsFor<P>> {
    const distinct = [...new Set(users)]
    const others = this.viewer === undefined ? [] : distinct.filter((user) => user !== this.viewer)
    const loaded = await Promise.all(
      (factsFor(purpose) as (keyof FactReads)[]).map(async (fact) => {
        const about = fact === 'live' ? distinct : others
        return [
          fact,
          about.length > 0 ? await this.reads[fact](about, this.viewer as UserId) : noFacts[fact],
        ] as const
      }),
    )
    return Object.fromEntries(loaded) as unknown as FactsFor<P>
  }

  /** The users that a purpose is forbidden for. The reads of {@link load}. */
  async hiddenAmong(purpose: UserPurpose, users: readonly UserId[]): Promise<Set<UserId>> {
    const facts = await this.load(purpose, users)
    return new Set(users.filter((user) => !isShown(purpose, this.viewer, { user }, facts)))
  }
}
