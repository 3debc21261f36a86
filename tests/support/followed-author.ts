import type { UserId } from '../../src/lib/ids.ts'
import { handle, openAccounts, type ServicesHarness } from './services.ts'

/** The handles of followers, in order. */
export const manyFollowers = (count: number): UserId[] =>
  Array.from({ length: count }, (_, n) => handle(`f${String(n).padStart(5, '0')}`))

/** Opens the accounts of an author and of followers, with their edges, and without a history. */
export async function openFollowedAuthor(
  { services }: Pick<ServicesHarness, 'services'>,
  author: UserId,
  fans: readonly UserId[],
): Promise<void> {
  await openAccounts(services, [author, ...fans])
  const source = 'IMPORT' as const
  const { followers, following, user_stats } = services.collections
  const back = fans.map((follower) => ({ user: author, follower, source }))
  const forward = fans.map((user) => ({ user, followee: author, source }))
  await followers.insertMany(back as never[])
  await following.insertMany(forward as never[])
  await user_stats.updateOne({ _id: author }, { $set: { followers: fans.length } })
  await user_stats.updateMany({ _id: { $in: [...fans] } }, { $set: { following: 1 } })
}
