import type { Ask } from './client.ts'
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
  /** Sends the request of the operation. Its latency counts from the time at which the arrival was due. */
  readonly ask: Ask
  /** Sends what follows from the answer. Its latency counts from now, under {@link followUpName}. */
  readonly askMore: Ask
}

interface Operation {
  /** What the report says about the operation. */
  readonly description: string
  /** Sends the request, and notes what its answer acknowledges. Sends none if there is nothing to act on. */
  readonly perform: (turn: Turn) => Promise<unknown>
}

/** The name of requests that follow from the answer of a poll. */
export const followUpName = 'newPosts'

/** The posts of a page, and how many of them are remembered for likes. */
const [pageSize, seenMax] = [20, 3]

interface HomePage {
  readonly timeline: {
    readonly edges: readonly { readonly node: { readonly id: string } | null }[]
  }
}

/** Every operation. A new one is a row here and a name in `plan.ts`. */
export const operations: Readonly<Record<OperationName, Operation>> = {
  home: {
    description: 'the first 20 posts of the home timeline, with counts and flags (HomeTimeline)',
    perform: async ({ ask, user, world }) => {
      const variables = { first: pageSize }
      const { data } = await ask<HomePage>({ document: 'HomeTimeline', variables, as: user })
      const edges = data?.timeline.edges.slice(0, seenMax) ?? []
      world.journal.see(edges.flatMap(({ node }) => (node ? [node.id] : [])))
    },
  },
  profile: {
    description: 'the profile of a user, popular ones most, with 20 posts (ProfilePage)',
    perform: ({ ask, user, random, world: { people } }) => {
      const variables = { handle: people.handleOf(people.drawPopular(random())), first: pageSize }
      return ask({ document: 'ProfilePage', variables, as: user })
    },
  },
  compose: {
    description: 'a new post (CreatePost)',
    perform: async ({ ask, user, index, world: { runId, journal } }) => {
      const { data } = await ask<{ createPost: { post: { id: string } } }>({
        document: 'CreatePost',
        variables: { input: { text: postText(runId, String(index)) } },
        as: user,
      })
      if (data) journal.addPost(user, data.createPost.post.id)
    },
  },
  follow: {
    description: 'a follow of a user, of popular ones most (FollowUser)',
    perform: async ({ ask, user, random, world: { people, journal } }) => {
      const followee = people.drawOther(user, random())
      const input = { user: { handle: people.handleOf(followee) } }
      const { data } = await ask({ document: 'FollowUser', variables: { input }, as: user })
      if (data) journal.addFollow(user, followee)
    },
  },
  like: {
    description: 'a like of a post that was seen, of the newest ones most (LikePost)',
    perform: async ({ ask, user, random, world: { journal } }) => {
      const postId = journal.drawPost(random())
      if (postId === undefined) return
      const { data } = await ask({
        document: 'LikePost',
        variables: { input: { postId } },
        as: user,
      })
      if (data) journal.addLike(user, postId)
    },
  },
  poll: {
    description: 'the question for news with If-None-Match (TimelineNews)',
    perform: ({ ask, askMore, world }) =>
      world.pollers.withNext((poller) => poller.poll(ask, askMore)),
  },
}

/** The begin of each text of a run. */
const marker = (runId: string) => `Run ${runId}, post `

/** The text of a post, different for each `name`. */
export const postText = (runId: string, name: string): string =>
  `${marker(runId)}${name}. The morning was cold, and the first train had left before the coffee was ready.`

/** Whether a text is of this run. */
export const isTextOf = (runId: string, text: string): boolean => text.startsWith(marker(runId))
