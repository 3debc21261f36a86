import type { Data } from './graphql.ts'
import { type Item, type Model, type Post, registerIn, type User, Writes } from './model.ts'
import { Register } from './register.ts'

/** One mutation, and what it writes in the model. */
export interface Operation {
  readonly name: string
  readonly document: string
  readonly input: Readonly<Record<string, unknown>>
  readonly actor: string
  readonly writes: Writes
  /** Takes what the answer holds. @returns the global id that was made. */
  readonly done?: (data: Data) => string
}

/** What clients know of each other: whom to follow and what to like. */
export interface World {
  readonly model: Model
  /** Users whose creation was acknowledged. The first are the popular ones. */
  readonly crowd: User[]
  /** The newest posts whose creation was acknowledged. */
  readonly recent: Post[]
}

const recentMax = 40

const mutation = (name: string, input: string, selection: string) =>
  `mutation($input: ${input}!) { ${name}(input: $input) { ${selection} } }`

/** Opens an account. */
export function createUser(model: Model, handle: string): Operation & { readonly user: User } {
  const user = model.addUser(handle)
  return {
    user,
    name: 'createUser',
    document: mutation('createUser', 'CreateUserInput', 'user { handle }'),
    input: { name: handle },
    actor: handle,
    writes: new Writes(performance.now()).begin(user.live, true),
  }
}

/** Deletes an account. Its handle is never used again. */
export const deleteUser = (user: User): Operation => ({
  name: 'deleteUser',
  document: mutation('deleteUser', 'DeleteUserInput', 'changed'),
  input: {},
  actor: user.handle,
  writes: new Writes(performance.now()).begin(user.live, false),
})

/** Publishes a post. @param text of no other post. */
export function createPost({ model, recent }: World, actor: User, text: string): Operation {
  const post = model.addPost(actor, text)
  return {
    name: 'createPost',
    document: mutation('createPost', 'CreatePostInput', 'post { id }'),
    input: { text },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(post.live, true),
    done: ({ createPost }) => {
      post.id = createPost.post.id
      recent.push(post)
      if (recent.length > recentMax) recent.shift()
      return createPost.post.id
    },
  }
}

/** Deletes a post of the actor's own. */
export function deletePost({ recent }: World, actor: User, post: Post): Operation {
  const at = recent.indexOf(post)
  if (at >= 0) recent.splice(at, 1)
  return {
    name: 'deletePost',
    document: mutation('deletePost', 'DeletePostInput', 'changed'),
    input: { postId: post.id },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(post.live, false),
  }
}

/** Changes what stands between the actor and a user. */
export function relate(name: RelationName, actor: User, other: User): Operation {
  const writes = new Writes(performance.now())
  const { registers, value } = relations[name]
  writes.begin(registerIn(actor[registers], other.handle), value)
  if (name === 'blockUser') {
    writes.begin(registerIn(actor.follows, other.handle), false)
    writes.begin(registerIn(other.follows, actor.handle), false)
  }
  return {
    name,
    document: mutation(name, 'UserInput', 'changed'),
    input: { handle: other.handle },
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
export function engage(name: EngagementName, actor: User, post: Post): Operation {
  const { registers, value } = engagements[name]
  return {
    name,
    document: mutation(name, 'PostInput', 'changed'),
    input: { postId: post.id },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(registerIn(post[registers], actor.handle), value),
  }
}

const engagements = {
  likePost: { registers: 'likes', value: true },
  unlikePost: { registers: 'likes', value: false },
  sharePost: { registers: 'shares', value: true },
  unsharePost: { registers: 'shares', value: false },
} as const
type EngagementName = keyof typeof engagements

/** Comments on a post. @param text of no other comment. */
export function addComment(actor: User, post: Post, text: string): Operation {
  const comment: Item = { author: actor.handle, text, id: undefined, live: new Register() }
  post.comments.set(text, comment)
  actor.comments.push(comment)
  return {
    name: 'addComment',
    document: mutation('addComment', 'AddCommentInput', 'comment { id }'),
    input: { postId: post.id, text },
    actor: actor.handle,
    writes: new Writes(performance.now()).begin(comment.live, true),
    done: ({ addComment }) => {
      comment.id = addComment.comment.id
      return addComment.comment.id
    },
  }
}

/** Deletes a comment of the actor's own. */
export const deleteComment = (actor: User, comment: Item): Operation => ({
  name: 'deleteComment',
  document: mutation('deleteComment', 'DeleteCommentInput', 'changed'),
  input: { commentId: comment.id },
  actor: actor.handle,
  writes: new Writes(performance.now()).begin(comment.live, false),
})
