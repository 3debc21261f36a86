import { typeNamesOf } from '../src/graphql/mutation-names.ts'
import type { Data } from './graphql.ts'
import { getRegister, type Item, type Model, type Post, type User, Writes } from './model.ts'
import { Register } from './register.ts'

/** A mutation, and its writes in the model. */
export interface Operation {
  readonly name: string
  readonly document: string
  readonly input: Readonly<Record<string, unknown>>
  readonly actor: string
  readonly writes: Writes
  /** Reads the global id of the created object from the answer, and stores it in the model. */
  readonly readCreatedId?: (data: Data) => string
}

/** The users and posts that all clients share. */
export interface World {
  readonly model: Model
  /** Users whose creation was acknowledged. Clients choose the first users most often. */
  readonly activeUsers: User[]
  /** The newest posts whose creation was acknowledged. */
  readonly recentPosts: Post[]
}

const recentPostsMax = 40

const mutationDocument = (name: string, selection: string) =>
  `mutation($input: ${typeNamesOf(name).input}!) { ${name}(input: $input) { ${selection} } }`

/** Creates an account. */
export function createUser(model: Model, handle: string): Operation & { readonly user: User } {
  const user = model.addUser(handle)
  return {
    user,
    name: 'createUser',
    document: mutationDocument('createUser', 'user { handle }'),
    input: { name: handle },
    actor: handle,
    writes: new Writes(performance.now()).begin(user.live, true),
  }
}

/** Deletes an account. No client uses its handle again. */
export const deleteUser = (user: User): Operation => ({
  name: 'deleteUser',
  document: mutationDocument('deleteUser', 'changed'),
  input: {},
  actor: user.handle,
  writes: new Writes(performance.now()).begin(user.live, false),
})

/** Publishes a post. @param text a text that no other post has. */
export function createPost({ model, recentPosts }: World, actor: User, text: string): Operation {
  const post = model.addPost(actor, text)
  return {
    name: 'createPost',
    document: mutationDocument('createPost', 'post { id }'),
    input: { text },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(post.live, true),
    readCreatedId: ({ createPost }) => {
      post.id = createPost.post.id
      recentPosts.push(post)
      if (recentPosts.length > recentPostsMax) recentPosts.shift()
      return createPost.post.id
    },
  }
}

/** Deletes a post of the actor. */
export function deletePost({ recentPosts }: World, actor: User, post: Post): Operation {
  const at = recentPosts.indexOf(post)
  if (at >= 0) recentPosts.splice(at, 1)
  return {
    name: 'deletePost',
    document: mutationDocument('deletePost', 'changed'),
    input: { postId: post.id },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(post.live, false),
  }
}

/** Changes a follow, mute or block of the actor. A block also ends the follows of both users. */
export function changeRelation(name: RelationName, actor: User, other: User): Operation {
  const writes = new Writes(performance.now())
  const { registers, value } = relations[name]
  writes.begin(getRegister(actor[registers], other.handle), value)
  if (name === 'blockUser') {
    writes.begin(getRegister(actor.follows, other.handle), false)
    writes.begin(getRegister(other.follows, actor.handle), false)
  }
  return {
    name,
    document: mutationDocument(name, 'changed'),
    input: { user: { handle: other.handle } },
    actor: actor.handle,
    writes,
  }
}

const relations = {
  followUser: { registers: 'follows', value: true },
  unfollowUser: { registers: 'follows', value: false },
  muteUser: { registers: 'mutes', value: true },
  unmuteUser: { registers: 'mutes', value: false },
  blockUser: { registers: 'blocks', value: true },
  unblockUser: { registers: 'blocks', value: false },
} as const
type RelationName = keyof typeof relations

/** Adds or removes a like or share of a post. */
export function changeEngagement(name: EngagementName, actor: User, post: Post): Operation {
  const { registers, value } = engagements[name]
  return {
    name,
    document: mutationDocument(name, 'changed'),
    input: { postId: post.id },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(getRegister(post[registers], actor.handle), value),
  }
}

const engagements = {
  likePost: { registers: 'likes', value: true },
  unlikePost: { registers: 'likes', value: false },
  sharePost: { registers: 'shares', value: true },
  unsharePost: { registers: 'shares', value: false },
} as const
type EngagementName = keyof typeof engagements

/** Comments on a post. @param text a text that no other comment has. */
export function addComment(actor: User, post: Post, text: string): Operation {
  const comment: Item = { author: actor.handle, text, id: undefined, live: new Register() }
  post.comments.set(text, comment)
  actor.comments.push(comment)
  return {
    name: 'addComment',
    document: mutationDocument('addComment', 'comment { id }'),
    input: { postId: post.id, text },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(comment.live, true),
    readCreatedId: ({ addComment }) => {
      comment.id = addComment.comment.id
      return addComment.comment.id
    },
  }
}

/** Deletes a comment of the actor. */
export const deleteComment = (actor: User, comment: Item): Operation => ({
  name: 'deleteComment',
  document: mutationDocument('deleteComment', 'changed'),
  input: { commentId: comment.id },
  actor: actor.handle,
  writes: new Writes(performance.now()).begin(comment.live, false),
})
