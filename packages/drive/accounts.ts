import { type CreatedPost, newPost, type World } from './operations.ts'
import { forEach, type PatientClient } from './patient.ts'

/** What a user of a run has before the load. */
export interface AccountPlan {
  readonly follows: number
  readonly posts: number
}

/** Reports how far a part of the preparation is. */
export type PartProgress = (part: string, done: number, total: number) => void

interface Profile {
  readonly bio: string | null
  readonly followingCount: number
  readonly postCount: number
}

/** The profile text of every account that a run creates. No other account is used or deleted. */
const ownBio = 'A test account of feedline drive, which may delete it.'

/** How many numbers in a row have no account after the last account of a prefix. */
const gapMax = 100

/**
 * Creates the accounts of a run, their follows and their posts. What an earlier run created is used
 * again.
 * @throws {Error} before anything is written if another client created one of the accounts;
 *   {RequestFailure}.
 */
export async function prepareAccounts(
  world: World,
  client: PatientClient,
  plan: AccountPlan,
  onProgress: PartProgress,
): Promise<void> {
  const users = Array.from({ length: world.people.count }, (_, user) => user)
  /** What each account had. */
  const profiles = new Map<number, Profile>()
  const each = (part: string, prepare: (user: number) => Promise<unknown>) => {
    let done = 0
    return forEach(users, async (user) => {
      await prepare(user)
      onProgress(part, ++done, users.length)
    })
  }
  await each('profiles', async (user) => {
    const profile = await readProfile(client, user)
    if (!profile) return
    if (profile.bio !== ownBio) {
      throw new Error(`No run has created ${world.people.handleOf(user)}. Set another --prefix`)
    }
    profiles.set(user, profile)
  })
  await each('accounts', async (user) => {
    if (profiles.has(user)) return
    const clientMutationId = `drive-${world.runId}-${world.people.handleOf(user)}`
    const input = { name: `Drive ${user + 1}`, bio: ownBio, clientMutationId }
    await client.request({ document: 'CreateUser', variables: { input }, as: user })
  })
  await each('followers', async (user) => {
    const followees = world.people.planFollowees(user, plan.follows)
    if ((profiles.get(user)?.followingCount ?? 0) >= followees.length) return
    for (const followee of followees) await follow(world, client, user, followee)
  })
  await each('authors', async (user) => {
    for (let at = profiles.get(user)?.postCount ?? 0; at < plan.posts; at++) {
      const request = newPost(world.runId, `${user}.${at}`, user)
      const { createPost } = await client.read<CreatedPost>(request)
      world.journal.addPost(user, createPost.post.id)
    }
  })
}

async function follow(
  { people, journal, runId }: World,
  client: PatientClient,
  user: number,
  followee: number,
): Promise<void> {
  const input = {
    user: { handle: people.handleOf(followee) },
    clientMutationId: `drive-${runId}-${user}-${followee}`,
  }
  await client.request({ document: 'FollowUser', variables: { input }, as: user })
  journal.addFollow(user, followee)
}

/** The profile of a user, or null without an account. */
async function readProfile(client: PatientClient, as: number): Promise<Profile | null> {
  const request = { document: 'Viewer', variables: {}, as }
  const { viewer } = await client.read<{ viewer: { user: Profile | null } }>(request)
  return viewer.user
}

/** What became of the accounts of a prefix. */
export interface Deletion {
  readonly deleted: number
  /** Accounts that no run has created. They stay. */
  readonly foreign: number
}

/**
 * Deletes the accounts that runs created, the highest number first. So a repeat after an
 * interruption finds the rest. Searches as far as `expected`, and then until a hundred numbers in a
 * row have no account.
 */
export async function deleteAccounts(
  client: PatientClient,
  expected: number,
  onProgress: PartProgress,
): Promise<Deletion> {
  const own: number[] = []
  let foreign = 0
  let searched = 0
  for (let last = -1; searched < expected || searched - last <= gapMax; ) {
    const users = Array.from({ length: gapMax }, (_, at) => searched + at)
    await forEach(users, async (user) => {
      const profile = await readProfile(client, user)
      if (!profile) return
      last = Math.max(last, user)
      if (profile.bio === ownBio) own.push(user)
      else foreign++
    })
    searched += gapMax
    onProgress('profiles', searched, searched)
  }
  let deleted = 0
  await forEach(
    own.sort((a, b) => b - a),
    async (as) => {
      await client.request({ document: 'DeleteUser', variables: { input: {} }, as })
      onProgress('deleted accounts', ++deleted, own.length)
    },
  )
  return { deleted, foreign }
}
