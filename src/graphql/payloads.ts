import { Field, ID, ObjectType } from 'type-graphql'
import { Comment } from './types/engagement.ts'
import { Post } from './types/post.ts'
import { User } from './types/user.ts'

@ObjectType({ simpleResolvers: true })
abstract class Payload {
  @Field(() => String, { nullable: true, description: 'The clientMutationId of the input.' })
  readonly clientMutationId?: string | null
}

@ObjectType({ simpleResolvers: true })
abstract class ChangePayload extends Payload {
  @Field(() => Boolean, {
    description:
      'Whether the mutation changed anything. False if the requested state already existed.',
  })
  readonly changed!: boolean
}

@ObjectType({ simpleResolvers: true, description: 'Result of createUser or updateUser.' })
export class UserPayload extends Payload {
  @Field(() => User, { description: "The viewer's account." })
  readonly user!: User
}

@ObjectType({ simpleResolvers: true, description: 'Result of deleteUser.' })
export class DeleteUserPayload extends ChangePayload {
  @Field(() => String, {
    description:
      'The handle of the deleted account. It becomes available when all data of the account is deleted.',
  })
  readonly handle!: string
}

@ObjectType({
  simpleResolvers: true,
  description:
    'Result of followUser, unfollowUser, muteUser, unmuteUser, blockUser or unblockUser.',
})
export class RelationPayload extends ChangePayload {
  @Field(() => User, {
    nullable: true,
    description: 'The other user, or null if the user has no account.',
  })
  readonly user!: User | null
}

@ObjectType({ simpleResolvers: true, description: 'Result of setFollowGroups.' })
export class SetFollowGroupsPayload extends Payload {
  @Field(() => [String], {
    description: 'The groups of the followee after the mutation, sorted by name, at most ten.',
  })
  readonly groups!: readonly string[]

  @Field(() => User, {
    nullable: true,
    description: 'The followee, or null if the followee has no account.',
  })
  readonly user!: User | null
}

@ObjectType({ simpleResolvers: true, description: 'Result of createPost.' })
export class CreatePostPayload extends Payload {
  @Field(() => Post, { description: 'The new post.' })
  readonly post!: Post
}

@ObjectType({ simpleResolvers: true, description: 'Result of deletePost.' })
export class DeletePostPayload extends ChangePayload {
  @Field(() => ID, { description: 'The global id of the deleted post.' })
  readonly deletedPostId!: string
}

@ObjectType({
  simpleResolvers: true,
  description: 'Result of likePost, unlikePost, sharePost or unsharePost.',
})
export class PostMarkPayload extends ChangePayload {
  @Field(() => Post, {
    nullable: true,
    description: 'The post after the mutation, or null if the post does not exist.',
  })
  readonly post!: Post | null
}

@ObjectType({ simpleResolvers: true, description: 'Result of addComment.' })
export class AddCommentPayload extends Payload {
  @Field(() => Comment, { description: 'The new comment.' })
  readonly comment!: Comment
}

@ObjectType({ simpleResolvers: true, description: 'Result of deleteComment.' })
export class DeleteCommentPayload extends ChangePayload {
  @Field(() => ID, { description: 'The global id of the deleted comment.' })
  readonly deletedCommentId!: string

  @Field(() => Post, {
    nullable: true,
    description: 'The post after the mutation, or null if the post does not exist.',
  })
  readonly post!: Post | null
}
