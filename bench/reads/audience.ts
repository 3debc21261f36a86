import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Graph } from '../feeds/graph.ts'

/** Who takes part in the loads. */
export interface Audience {
  /** The people of the graph: their timelines are read, changed and polled. All follow someone. */
  readonly readers: readonly UserId[]
  /** Followed by all readers. Adds the posts that change their timelines. */
  readonly hub: UserId
  /** People with about forty followers. */
  readonly composers: readonly UserId[]
  /** Authors that the whole crowd follows. */
  readonly speakers: readonly UserId[]
  /** Accounts who follow the speakers alone, until they follow people. */
  readonly crowd: readonly UserId[]
  /** Readers with ten followees, and with a thousand. */
  readonly few: readonly UserId[]
  readonly many: readonly UserId[]
}

/** What exists after the contents are stored, and what a block does not hide. */
export interface Subjects {
  /** Readers without likes, and posts. */
  readonly likers: readonly UserId[]
  readonly posts: readonly PostRef[]
  /** People with an account. */
  readonly followees: readonly UserId[]
}

/** How many accounts of each kind join the graph. */
export interface AudienceSizes {
  readonly crowd: number
  readonly speakers: number
  readonly each: number
}

const [leastFollowers, mostFollowers] = [35, 45]
const [fewFollowees, manyFollowees] = [10, 1_000]

/**
 * Adds accounts to a graph of people, whose follows stay as they are: all of them follow the hub
 * too.
 */
export function addAudience(
  people: Graph,
  sizes: AudienceSizes,
): { graph: Graph; audience: Audience } {
  const followers = new Map(people.followers)
  const addFollowers = (followee: UserId, added: readonly UserId[]) =>
    followers.set(followee, [...(followers.get(followee) ?? []), ...added])
  const create = (kind: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${kind}${at}` as UserId)
  const hub = 'hub' as UserId
  const [crowd, speakers] = [create('crowd', sizes.crowd), create('speaker', sizes.speakers)]
  const [few, many] = [create('few', sizes.each), create('many', sizes.each)]
  const countOf = (user: UserId) => followers.get(user)?.length ?? 0
  const composers = people.users.filter(
    (user) => countOf(user) >= leastFollowers && countOf(user) <= mostFollowers,
  )
  // The composers keep their about forty followers.
  const others = [...people.users.filter((user) => !composers.includes(user)), ...crowd]
  addFollowers(hub, [...people.users, ...few, ...many])
  for (const speaker of speakers) addFollowers(speaker, crowd)
  for (const followee of others.slice(0, manyFollowees - 1)) addFollowers(followee, many)
  for (const [at, reader] of few.entries())
    for (let next = 1; next < fewFollowees; next++)
      addFollowers(others[(at * fewFollowees + next) % others.length] as UserId, [reader])
  const users = [...people.users, hub, ...speakers, ...crowd, ...few, ...many]
  const audience = { readers: people.users, hub, composers, speakers, crowd, few, many }
  return { graph: { name: people.name, users, followers }, audience }
}
