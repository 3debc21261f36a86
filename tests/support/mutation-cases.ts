import * as operations from '@feedline/client'
import type { Mutation } from '@feedline/client/schema'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { type KindKeyedBy, kinds, kindsKeyedBy } from '../../src/engagement/kinds.ts'
import { engagementNodeId, postNodeId } from '../../src/graphql/node-id.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import type { TestApp } from './app.ts'
import { handle, namesOf, openAccounts, subjectOf } from './services.ts'

/** The mutations of the schema that a viewer may send. `createUsers` is for servers alone. */
export type MutationName = Exclude<keyof Mutation, '__typename' | 'createUsers'>
/** The input of a mutation, without clientMutationId. */
export type Input = Readonly<Record<string, unknown>>

/** A mutation of a kind whose key is the actor. */
type OwnEntryMutation = (typeof kinds)[KindKeyedBy<'actor'>]['add' | 'remove']['mutation']

/** A value for each mutation of the kinds whose key is the actor. */
export const forOwnEntries = <Value>(
  create: (name: OwnEntryMutation, kind: KindKeyedBy<'actor'>, isAdd: boolean) => Value,
) =>
  Object.fromEntries(
    kindsKeyedBy('actor').flatMap((kind) => {
      const [add, remove] = [kinds[kind].add.mutation, kinds[kind].remove.mutation]
      return [
        [add, create(add, kind, true)],
        [remove, create(remove, kind, false)],
      ]
    }),
  ) as Record<OwnEntryMutation, Value>

type OwnEntryDocument = TypedDocumentNode<
  Readonly<Record<string, { readonly changed: boolean }>>,
  { readonly input: Input }
>

const documents: Readonly<Record<string, unknown>> = { ...operations }

/** The operations of schema/operations with these mutations: `LikePost` for `likePost`. */
export const ownEntryDocuments = forOwnEntries((name) => {
  const operation = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return documents[`${operation}Document`] as OwnEntryDocument
})

/** A viewer and another user, which no other test uses. */
export interface Pair {
  readonly viewer: UserId
  readonly other: UserId
}

/** A mutation that changes something. */
export interface MutationCase {
  // biome-ignore lint/suspicious/noExplicitAny: one table holds all documents
  readonly document: TypedDocumentNode<any, any>
  /** Prepares the data so that the mutation changes something. Returns the input. */
  readonly ready: (pair: Pair) => Promise<Input> | Input
  /** Another input that also changes something. Undefined: there is none. */
  readonly otherwise: ((pair: Pair) => Input) | undefined
  /** Undoes the effect, so that a second effect would show. */
  readonly undo: (pair: Pair) => Promise<unknown>
}

/** The user in inputs that differ from other inputs only in the user. Has an account. */
export const thirdUser = handle('third-user')

let pairs = 0

/** Two fresh accounts. */
export async function newPair({ services }: TestApp): Promise<Pair> {
  const pair = { viewer: handle(`viewer${pairs}`), other: handle(`other${pairs++}`) }
  await openAccounts(services, [pair.viewer, pair.other])
  return pair
}

/**
 * Each mutation of viewers, with an input that changes something. Call it only in hooks and tests.
 */
export function mutationCases(app: TestApp): Readonly<Record<MutationName, MutationCase>> {
  const toOther = ({ other }: Pair): Input => ({ user: { handle: other } })
  const otherwise = (): Input => ({ user: { handle: thirdUser } })
  const follow = async (pair: Pair) => {
    await app.services.follows.follow(pair.viewer, pair.other)
    return toOther(pair)
  }
  const unfollow = ({ viewer, other }: Pair) => app.services.follows.unfollow(viewer, other)
  const restrict = (kind: 'mute' | 'unmute' | 'block' | 'unblock') => async (pair: Pair) => {
    await app.services.restrictions[kind](pair.viewer, pair.other)
    return toOther(pair)
  }
  /** The account that a viewer has now. */
  const accountOf = async ({ viewer }: Pair) =>
    (await app.services.subjects.find(subjectOf(viewer))) ?? viewer
  const leave = async (pair: Pair) => {
    await app.services.users.delete(await accountOf(pair))
    await app.rest()
  }
  const rename = async (pair: Pair) =>
    app.services.users.update(await accountOf(pair), { name: 'Later', bio: 'Written later' })

  const published = async (author: UserId) => app.services.posts.create(author, { text: 'Theirs' })
  const newestOne = { limit: 1, backward: false }
  const newest = async (author: UserId) => {
    const pages = await readPages(app.services.posts.byAuthor(false), [author], newestOne)
    return pages.get(author)?.items[0] as PostRef
  }
  const toPost = async ({ other }: Pair) => ({ postId: postNodeId(await published(other)) })
  const change = (does: 'add' | 'remove', kind: KindKeyedBy<'actor'>) => async (pair: Pair) =>
    app.services.engagements[does](kind, pair.viewer, await newest(pair.other))
  const added = (kind: KindKeyedBy<'actor'>) => async (pair: Pair) => {
    const input = await toPost(pair)
    await change('add', kind)(pair)
    return input
  }
  const noPost = ({ other }: Pair): Input => ({
    postId: postNodeId({ author: other, id: 'a'.repeat(24) as PostId }),
  })

  return {
    ...forOwnEntries((name, kind, isAdd) => ({
      document: ownEntryDocuments[name],
      ready: isAdd ? toPost : added(kind),
      otherwise: noPost,
      undo: change(isAdd ? 'remove' : 'add', kind),
    })),
    addComment: {
      document: operations.AddCommentDocument,
      ready: async (pair) => ({ ...(await toPost(pair)), text: 'Well said' }),
      otherwise: (pair) => ({ ...noPost(pair), text: 'Otherwise' }),
      undo: async ({ viewer, other }) => {
        const post = await newest(other)
        const pages = await readPages(
          app.services.engagementReader.list('comments'),
          [post],
          newestOne,
        )
        const comment = pages.get(post.id)?.items[0]
        const ref = comment && ({ kind: 'comments', post, id: comment.id } as const)
        if (ref) await app.services.engagements.removeById(ref, viewer)
      },
    },
    deleteComment: {
      document: operations.DeleteCommentDocument,
      ready: async ({ viewer, other }) => {
        const post = await published(other)
        const { entry } = await app.services.engagements.add('comments', viewer, post, {
          text: 'Oh',
        })
        return { commentId: engagementNodeId({ kind: 'comments', post, key: entry.id }) }
      },
      otherwise: ({ other: author }) => {
        const id = 'a'.repeat(24)
        const post = { author, id: id as PostId }
        return { commentId: engagementNodeId({ kind: 'comments', post, key: id }) }
      },
      undo: async ({ viewer, other }) =>
        app.services.engagements.add('comments', viewer, await newest(other), { text: 'Again' }),
    },
    createUser: {
      document: operations.CreateUserDocument,
      ready: async (pair) => {
        await leave(pair)
        return { name: 'Named' }
      },
      otherwise: () => ({ name: 'Otherwise' }),
      undo: rename,
    },
    updateUser: {
      document: operations.UpdateUserDocument,
      ready: () => ({ name: 'Renamed', bio: null }),
      otherwise: () => ({ name: 'Otherwise', bio: null }),
      undo: rename,
    },
    deleteUser: {
      document: operations.DeleteUserDocument,
      ready: () => ({}),
      otherwise: undefined,
      undo: async ({ viewer }) => {
        await app.rest()
        await app.services.users.create(viewer, { ...namesOf(viewer), name: 'Back again' })
      },
    },
    followUser: {
      document: operations.FollowUserDocument,
      ready: toOther,
      otherwise,
      undo: unfollow,
    },
    followUsers: {
      document: operations.FollowUsersDocument,
      ready: ({ other }) => ({ users: [{ handle: other }] }),
      otherwise: () => ({ users: [{ handle: thirdUser }] }),
      undo: unfollow,
    },
    unfollowUser: {
      document: operations.UnfollowUserDocument,
      ready: follow,
      otherwise,
      undo: follow,
    },
    muteUser: {
      document: operations.MuteUserDocument,
      ready: toOther,
      otherwise,
      undo: restrict('unmute'),
    },
    unmuteUser: {
      document: operations.UnmuteUserDocument,
      ready: restrict('mute'),
      otherwise,
      undo: restrict('mute'),
    },
    blockUser: {
      document: operations.BlockUserDocument,
      ready: follow,
      otherwise,
      undo: restrict('unblock'),
    },
    unblockUser: {
      document: operations.UnblockUserDocument,
      ready: restrict('block'),
      otherwise,
      undo: restrict('block'),
    },
    setFollowGroups: {
      document: operations.SetFollowGroupsDocument,
      ready: async (pair) => ({ ...(await follow(pair)), groups: ['b', 'a'] }),
      otherwise: () => ({ user: { handle: thirdUser }, groups: ['b', 'a'] }),
      undo: ({ viewer, other }) => app.services.follows.setGroups(viewer, other, ['later']),
    },
    createPost: {
      document: operations.CreatePostDocument,
      ready: () => ({
        text: 'Hello',
        attachments: [{ url: 'https://example.com/', kind: 'LINK' }],
      }),
      otherwise: () => ({ text: 'Otherwise' }),
      undo: async ({ viewer }) => app.services.posts.delete(viewer, await newest(viewer)),
    },
    deletePost: {
      document: operations.DeletePostDocument,
      ready: async ({ viewer }) => ({
        postId: postNodeId(await app.services.posts.create(viewer, { text: 'Bye' })),
      }),
      otherwise: ({ viewer }) => ({
        postId: postNodeId({ author: viewer, id: 'a'.repeat(24) as PostId }),
      }),
      undo: ({ viewer }) => app.services.posts.create(viewer, { text: 'Another' }),
    },
  }
}

/** A well-formed input of each mutation. */
export const inputsOf = ({ viewer, other }: Pair): Record<MutationName, Input> => ({
  createUser: { name: 'Named' },
  updateUser: { name: 'Named' },
  deleteUser: {},
  followUser: { user: { handle: other } },
  followUsers: { users: [{ handle: other }] },
  unfollowUser: { user: { handle: other } },
  muteUser: { user: { handle: other } },
  unmuteUser: { user: { handle: other } },
  blockUser: { user: { handle: other } },
  unblockUser: { user: { handle: other } },
  setFollowGroups: { user: { handle: other }, groups: [] },
  createPost: { text: 'Hello' },
  deletePost: { postId: postNodeId(nothing(viewer)) },
  ...forOwnEntries(() => ({ postId: postNodeId(nothing(other)) })),
  addComment: { postId: postNodeId(nothing(other)), text: 'Hello' },
  deleteComment: {
    commentId: engagementNodeId({ kind: 'comments', post: nothing(other), key: 'b'.repeat(24) }),
  },
})

/** A post that does not exist. */
const nothing = (author: UserId) => ({ author, id: 'b'.repeat(24) as PostId })
