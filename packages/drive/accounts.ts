import { setTimeout as sleep } from 'node:timers/promises'
import { postText, type World } from './operations.ts'
import { forEach, type PatientClient, RequestFailure } from './patient.ts'

/** What a user of a run has before the load. */
export interface AccountPlan {
  /** Whether missing accounts, follows and posts are created. Otherwise the accounts need to exist. */
  readonly isCreating: boolean
  readonly follows: number
  readonly posts: number
}

/** Reports how far a part of the preparation is. */
export type PartProgress = (part: string, done: number, total: number) => void

interface ViewerAnswer {
  readonly viewer: { readonly user: Profile | null }
}

interface Profile {
  readonly bio: string | null
  readonly followingCount: number
  readonly postCount: number
}

/** The profile text of every account that a run creates. No other account is used or deleted. */
const ownBio = 'A test account of feedline drive, which may delete it.'

/** How long the handle of a deleted account may stay taken, and the time between two tries, in milliseconds. */
const [removalMsMax, removalPauseMs] = [120_000, 1_000]
/** How many numbers in a row have no account after the last account of a prefix. */
const gapMax = 100

/**
 * Prepares the accounts of a run, their follows and their posts. What an earlier run created is used again.
 * @throws {Error} before anything is written if an account does not exist and is not created, or if another client
 *   created it; {RequestFailure}.
 */
export async function prepareAccounts(
  world: World,
  client: PatientClient,
  plan: AccountPlan,
  onProgress: PartProgress,
): Promise<void> {
  const preparation = new Preparation(world, client, plan)
  const users = Array.from({ length: world.people.count }, (_, user) => user)
  const each = (part: string, prepare: (user: number) => Promise<unknown>) => {
    let done = 0
    return forEach(users, async (user) => {
      await prepare(user)
      onProgress(part, ++done, users.length)
    })
  }
  await each('profiles', (user) => preparation.loadProfile(user))
  if (!plan.isCreating) return
  await each('accounts', (user) => preparation.openAccount(user))
  await each('followers', (user) => preparation.openFollows(user))
  await each('authors', (user) => preparation.writePosts(user))
}

class Preparation {
  /** What each account had, by the number of the user. */
  private readonly profiles = new Map<number, Profile>()

  constructor(
    private readonly world: World,
    private readonly client: PatientClient,
    private readonly plan: AccountPlan,
  ) {}

  async loadProfile(user: number): Promise<void> {
    const profile = await readProfile(this.client, user)
    const handle = this.world.people.handleOf(user)
    if (profile) {
      if (this.plan.isCreating && profile.bio !== ownBio) {
        throw new Error(`No run has created ${handle}. Set another --prefix`)
      }
      this.profiles.set(user, profile)
    } else if (!this.plan.isCreating) {
      throw new Error(`${handle} has no account`)
    }
  }

  async openAccount(user: number): Promise<void> {
    if (this.profiles.has(user)) return
    const untilMs = performance.now() + removalMsMax
    const { people, runId } = this.world
    const clientMutationId = `drive-${runId}-${people.handleOf(user)}`
    const input = { name: `Drive ${user + 1}`, bio: ownBio, clientMutationId }
    for (;;) {
      try {
        await this.client.request({ document: 'CreateUser', variables: { input }, as: user })
        return
      } catch (error) {
        // The deleted account of an earlier run may still be being removed.
        const isTaken = error instanceof RequestFailure && error.code === 'CONFLICT'
        if (!isTaken || performance.now() > untilMs) throw error
        await sleep(removalPauseMs)
      }
    }
  }

  async openFollows(user: number): Promise<void> {
    const { people, journal } = this.world
    const followees = people.planFollowees(user, this.plan.follows)
    if ((this.profiles.get(user)?.followingCount ?? 0) >= followees.length) return
    for (const followee of followees) {
      const input = { user: { handle: people.handleOf(followee) } }
      await this.client.request({ document: 'FollowUser', variables: { input }, as: user })
      journal.addFollow(user, followee)
    }
  }

  async writePosts(user: number): Promise<void> {
    const { journal, runId } = this.world
    for (let at = this.profiles.get(user)?.postCount ?? 0; at < this.plan.posts; at++) {
      const name = `${user}.${at}`
      const input = { text: postText(runId, name), clientMutationId: `drive-${runId}-${name}` }
      const { createPost } = await this.client.read<{ createPost: { post: { id: string } } }>({
        document: 'CreatePost',
        variables: { input },
        as: user,
      })
      journal.addPost(user, createPost.post.id)
    }
  }
}

/** The profile of a user, or null without an account. */
async function readProfile(client: PatientClient, as: number): Promise<Profile | null> {
  const { viewer } = await client.read<ViewerAnswer>({ document: 'Viewer', variables: {}, as })
  return viewer.user
}

/** What became of the accounts of a prefix. */
export interface Deletion {
  readonly deleted: number
  /** Accounts that no run has created. They stay. */
  readonly foreign: number
}

/**
 * Deletes the accounts that runs created, the highest number first. So a repeat after an interruption finds the rest.
 * Searches as far as `expected`, and then until a hundred numbers in a row have no account.
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
