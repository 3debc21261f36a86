import { DomainError } from '../errors.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import type { UserId } from '../lib/ids.ts'
import { noAccount, type UserStats } from '../users/stats.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** The answer when the post does not exist, or the viewer may not see it. */
export const noPost = (): DomainError => new DomainError('NOT_FOUND', 'The post does not exist')

/** An entry that is about to be added to its list, or one that its list does not hold any more. */
export type Intent =
  | { readonly begin: UserEngagement; readonly end?: undefined }
  | { readonly end: Pick<UserEngagement, 'id' | 'user'>; readonly begin?: undefined }

/** Checks accounts and blocks before a like, comment or share is stored, and writes the by-user entry before it. */
export class Admission {
  constructor(
    private readonly userIndex: UserEngagementIndex,
    private readonly stats: UserStats,
    private readonly restrictions: Restrictions,
  ) {}

  /**
   * Writes the by-user entries of those that begin and removes those of the others. Up to four commands, and one more
   * when someone is refused. An entry may begin again: an earlier try has failed.
   * @returns for each, in order, why it is refused: NOT_FOUND without an account or such a post, or when a block hides it.
   */
  async admit(batch: readonly Intent[]): Promise<readonly (DomainError | undefined)[]> {
    const begins = batch.flatMap(({ begin }) => (begin ? [begin] : []))
    const ends = batch.flatMap(({ end }) => (end ? [end] : []))
    const people = [...new Set(begins.flatMap(({ user, post }) => [user, post.author]))]
    const pairs = begins
      .filter(({ user, post }) => user !== post.author)
      .map(({ user, post }) => ({ one: user, other: post.author }))
    // Written first: the purge of an account that is still live here then finds every entry of it.
    await this.userIndex.write(begins, ends)
    const [live, blocked] = await Promise.all([
      people.length > 0 ? this.stats.liveAmong(people) : new Set<UserId>(),
      this.restrictions.blocksBetween(pairs),
    ])
    const refused: UserEngagement[] = []
    const refusals = batch.map(({ begin }) => {
      if (!begin) return undefined
      const { user, post } = begin
      const hidden = !live.has(post.author) || blocked.has(`${user}>${post.author}`)
      if (live.has(user) && !hidden) return undefined
      refused.push(begin)
      return live.has(user) ? noPost() : noAccount()
    })
    if (refused.length > 0) await this.userIndex.write([], refused)
    return refusals
  }
}
