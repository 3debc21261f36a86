import type { Answer, Ask } from './client.ts'
import type { Journal } from './journal.ts'
import type { People } from './people.ts'
import type { OperationName } from './plan.ts'
import type { Pollers } from './poller.ts'

/** What the operations of a run share. */
export interface World {
  readonly people: People
  readonly journal: Journal
  readonly pollers: Pollers
  /** Distinguishes the posts of this run from those of all others. */
  readonly runId: string
}

/** What one arrival has. */
export interface Turn {
  readonly world: World
  /** The number of the arrival. */
  readonly index: number
  /** The number of the acting user. */
  readonly user: number
  /** The next random choice, at least 0 and below 1. */
  readonly random: () => number
  /**
   * Sends the request of the operation. Its latency counts from the time at which the arrival was
   * due.
   */
  readonly ask: Ask
  /**
   * Sends what follows from the answer. Its latency counts from now, under {@link followUpName}.
   */
  readonly askMore: Ask
}

/** The name of requests that follow from the answer of a poll. */
export const followUpName = 'newPosts'

/** The posts of a page, and how many of them are remembered for likes. */
const [pageSize, seenMax] = [20, 3]

/** A page of posts. */
export interface Page {
  readonly edges: readonly { readonly node: { readonly id: string } | null }[]
}

export const idsOf = ({ edges }: Page): string[] =>
  edges.flatMap(({ node }) => (node ? [node.id] : []))

/**
 * Sends the request of each operation, and notes what its answer acknowledges. Sends none if there
 * is nothing to act on. A new operation is a row here and a name in `plan.ts`.
 */
export const operations: Readonly<Record<OperationName, (turn: Turn) => Promise<unknown>>> = {
  home: async ({ ask, user, world }) => {
    const variables = { first: pageSize }
    const { data } = await ask<{ timeline: Page }>({
      document: 'HomeTimeline',
      variables,
      as: user,
    })
    if (data) world.journal.see(idsOf(data.timeline).slice(0, seenMax))
  },
  profile: ({ ask, user, random, world: { people } }) => {
    const variables = { handle: people.handleOf(people.drawPopular(random())), first: pageSize }
    return ask({ document: 'ProfilePage', variables, as: user })
  },
  compose: async ({ ask, user, index, world: { runId, journal } }) => {
    const { data } = await ask<CreatedPost>(newPost(runId, String(index), user))
    if (data) journal.addPost(user, data.createPost.post.id)
  },
  follow: async (turn) => {
    const { user, random, world } = turn
    const followee = world.people.drawOther(user, random())
    const target = { user: { handle: world.people.handleOf(followee) } }
    const { data } = await mutate(turn, 'FollowUser', target)
    if (data) world.journal.addFollow(user, followee)
  },
  like: async (turn) => {
    const { user, random, world } = turn
    const postId = world.journal.drawPost(random())
    if (postId === undefined) return
    const { data } = await mutate(turn, 'LikePost', { postId })
    if (data) world.journal.addLike(user, postId)
  },
  poll: ({ ask, askMore, world }) => world.pollers.withNext((poller) => poller.poll(ask, askMore)),
}

/** Sends a mutation as documented clients do, with a `clientMutationId`. */
const mutate = (
  { ask, user, index, world }: Turn,
  document: string,
  target: object,
): Promise<Answer<object>> => {
  const input = { ...target, clientMutationId: `drive-${world.runId}-${index}` }
  return ask({ document, variables: { input }, as: user })
}

export interface CreatedPost {
  readonly createPost: { readonly post: { readonly id: string } }
}

/** The request for a post of the run, different for each `name`. A repeat creates no second one. */
export const newPost = (runId: string, name: string, as: number) => ({
  document: 'CreatePost',
  variables: {
    input: { text: postText(runId, name), clientMutationId: `drive-${runId}-${name}` },
  },
  as,
})

/** The begin of each text of a run. */
const marker = (runId: string) => `Run ${runId}, post `

/** The text of a post, different for each `name`. */
export const postText = (runId: string, name: string): string =>
  `${marker(runId)}${name}. The morning was cold, and the first train had left before the coffee was ready.`

/** Whether a text is of this run. */
export const isTextOf = (runId: string, text: string): boolean => text.startsWith(marker(runId))
