import type { Collections } from '../../src/db/collections.ts'
import { countUsers, type DegreeClass, type Degrees } from './degrees.ts'

/** The default size of a sample. */
const sampleSize = 20_000

/** The degrees of a stored graph. */
export interface SampledDegrees {
  readonly followers: Degrees
  readonly followees: Degrees
}

/**
 * Reads how edges are spread in a database. Followers are counted for the followees of random
 * edges, so that the few users with very many followers are in the sample. Followees are counted
 * for random users.
 * @param sampleMax the most users, and the most edges, that are read. A graph of fewer users is
 * read completely. Cost: five commands, of at most `sampleMax` documents each.
 */
export async function sampleDegrees(
  { user_stats, followers }: Pick<Collections, 'user_stats' | 'followers'>,
  sampleMax = sampleSize,
): Promise<SampledDegrees> {
  const [users, edges] = [
    await user_stats.estimatedDocumentCount(),
    await followers.estimatedDocumentCount(),
  ]
  const fields = { projection: { followers: 1, following: 1 } }
  if (users <= sampleMax) {
    const all = await user_stats.find({}, fields).toArray()
    return {
      followers: classesOf(all.map((one) => ({ users: 1, degree: one.followers }))),
      followees: classesOf(all.map((one) => ({ users: 1, degree: one.following }))),
    }
  }
  const sample = [{ $sample: { size: sampleMax } }]
  const [someUsers, someEdges] = [
    await user_stats.aggregate<{ following: number }>(sample).toArray(),
    await followers.aggregate<{ user: string }>(sample).toArray(),
  ]
  const stats = await user_stats
    .find({ _id: { $in: [...new Set(someEdges.map(({ user }) => user))] } }, fields)
    .toArray()
  const countsByUser = new Map(stats.map((one) => [one._id, one.followers]))
  // A user with f followers is found f times as often as a user with one.
  const followed = someEdges.flatMap(({ user }): DegreeClass[] => {
    const degree = countsByUser.get(user) ?? 0
    return degree === 0 ? [] : [{ users: edges / someEdges.length / degree, degree }]
  })
  const withoutFollowers = { users: Math.max(0, users - countUsers(followed)), degree: 0 }
  const share = users / Math.max(1, someUsers.length)
  return {
    followers: classesOf([...followed, withoutFollowers]),
    followees: classesOf(someUsers.map(({ following }) => ({ users: share, degree: following }))),
  }
}

/** One class for each degree, the highest first. */
function classesOf(classes: readonly DegreeClass[]): Degrees {
  const usersByDegree = new Map<number, number>()
  for (const { users, degree } of classes)
    usersByDegree.set(degree, (usersByDegree.get(degree) ?? 0) + users)
  return [...usersByDegree]
    .map(([degree, users]) => ({ users, degree }))
    .sort((a, b) => b.degree - a.degree)
}
