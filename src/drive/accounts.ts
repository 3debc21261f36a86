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
  readonly followingCount: number
  readonly postCount: number
}

/** How long the handle of a deleted account may stay taken, and the time between two tries, in milliseconds. */
const [removalMsMax, removalPauseMs] = [120_000, 1_000]
/** How many handles `deleteAccounts` tries at once. */
const deletedAtOnce = 100

/**
 * Prepares the accounts of a run, their follows and their posts. What an earlier run created is used again.
 * @throws {Error} if an account does not exist and is not created; {RequestFailure}.
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
  await each('accounts', (user) => preparation.openAccount(user))
  if (!plan.isCreating) return
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

  async openAccount(user: number): Promise<void> {
    const untilMs = performance.now() + removalMsMax
    const { people, runId } = this.world
    const handle = people.handleOf(user)
    const input = { name: `Drive ${user + 1}`, clientMutationId: `drive-${runId}-${handle}` }
    for (;;) {
      const { viewer } = await this.client.read<ViewerAnswer>({
        document: 'Viewer',
        variables: {},
        as: user,
      })
      if (viewer.user) return void this.profiles.set(user, viewer.user)
      if (!this.plan.isCreating) throw new Error(`${handle} has no account`)
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

/**
 * Deletes the numbered accounts in order, until a hundred in a row do not exist.
 * @returns the number of accounts that existed.
 */
export async function deleteAccounts(
  client: PatientClient,
  onProgress: PartProgress,
): Promise<number> {
  let deleted = 0
  for (let from = 0, found = -1; found !== 0; from += deletedAtOnce) {
    found = 0
    const users = Array.from({ length: deletedAtOnce }, (_, at) => from + at)
    await forEach(users, async (as) => {
      const { deleteUser } = await client.read<{ deleteUser: { changed: boolean } }>({
        document: 'DeleteUser',
        variables: { input: {} },
        as,
      })
      if (deleteUser.changed) found++
    })
    deleted += found
    onProgress('deleted accounts', deleted, deleted + (found > 0 ? deletedAtOnce : 0))
  }
  return deleted
}
