import { DomainError } from '../errors.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import { noAccount, type UserStats } from '../users/stats.ts'
import { isShown } from '../visibility/rules.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** The answer when the post does not exist, or the viewer may not see it. */
export const noPost = (): DomainError => new DomainError('NOT_FOUND', 'The post does not exist')

/** Checks accounts and blocks before a like, comment or share is stored, and writes the by-user entry before it. */
export class Admission {
  constructor(
    private readonly userIndex: UserEngagementIndex,
    private readonly stats: UserStats,
    private readonly restrictions: Restrictions,
  ) {}

  /**
   * Writes the by-user entries of adds. Up to three commands. An add may be admitted again: an earlier try has failed.
   * The caller removes the entries of the refused.
   * @returns for each, in order, why it is refused: NOT_FOUND without an account or such a post, or when a block hides it.
   */
  async admit(adds: readonly UserEngagement[]): Promise<readonly (DomainError | undefined)[]> {
    const people = [...new Set(adds.flatMap(({ user, post }) => [user, post.author]))]
    const pairs = adds
      .filter(({ user, post }) => user !== post.author)
      .map(({ user, post }) => ({ one: user, other: post.author }))
    // Written first: the purge of an account that is still live here then finds every entry of it.
    await this.userIndex.write(adds, [])
    const [live, blocks] = await Promise.all([
      this.stats.liveAmong(people),
      this.restrictions.blocksBetween(pairs),
    ])
    const reasonOf = ({ user, post }: UserEngagement) => {
      if (!live.has(user)) return noAccount()
      const restrictions = blocks.get(user) ?? new Map()
      return isShown('POST', user, { user: post.author }, { live, restrictions })
        ? undefined
        : noPost()
    }
    return adds.map(reasonOf)
  }
}
