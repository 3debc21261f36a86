import { Field, ID, ObjectType } from 'type-graphql'
import { Comment } from './types/engagement.ts'
import { Post } from './types/post.ts'
import { User } from './types/user.ts'

@ObjectType({ simpleResolvers: true })
abstract class Payload {
  @Field(() => String, { nullable: true, description: 'As it was given.' })
  readonly clientMutationId?: string | null
}

@ObjectType({ simpleResolvers: true })
abstract class ChangePayload extends Payload {
  @Field(() => Boolean, { description: 'False when it was so already: a repeat changes nothing.' })
  readonly changed!: boolean
}

@ObjectType({ simpleResolvers: true, description: 'The account as it is now.' })
export class UserPayload extends Payload {
  @Field(() => User, { description: "The viewer's account." })
  readonly user!: User
}

@ObjectType({ simpleResolvers: true, description: 'Whether there was an account to remove.' })
export class DeleteUserPayload extends ChangePayload {
  @Field(() => String, {
    description: 'The handle. It is free again once everything of the user is cleared.',
  })
  readonly handle!: string
}

@ObjectType({ simpleResolvers: true, description: 'What became of the viewer and the user.' })
export class RelationPayload extends ChangePayload {
  @Field(() => User, {
    nullable: true,
    description: 'The other user; null when they have no account any more.',
  })
  readonly user!: User | null
}

@ObjectType({ simpleResolvers: true, description: 'The groups of a followee.' })
export class SetFollowGroupsPayload extends Payload {
  @Field(() => [String], {
    description: 'The groups the followee is in now, by name, at most ten.',
  })
  readonly groups!: readonly string[]

  @Field(() => User, {
    nullable: true,
    description: 'The followee; null when they have no account any more.',
  })
  readonly user!: User | null
}

@ObjectType({ simpleResolvers: true, description: 'What was published.' })
export class CreatePostPayload extends Payload {
  @Field(() => Post, { description: 'The post as it was published.' })
  readonly post!: Post
}

@ObjectType({ simpleResolvers: true, description: 'What was removed.' })
export class DeletePostPayload extends ChangePayload {
  @Field(() => ID, { description: 'The id of the post.' })
  readonly deletedPostId!: string
}

@ObjectType({ simpleResolvers: true, description: 'What became of the viewer and the post.' })
export class PostMarkPayload extends ChangePayload {
  @Field(() => Post, {
    nullable: true,
    description: 'The post as it is now; null once it is gone.',
  })
  readonly post!: Post | null
}

@ObjectType({ simpleResolvers: true, description: 'What was said.' })
export class AddCommentPayload extends Payload {
  @Field(() => Comment, { description: 'The comment.' })
  readonly comment!: Comment
}

@ObjectType({ simpleResolvers: true, description: 'What was removed.' })
export class DeleteCommentPayload extends ChangePayload {
  @Field(() => ID, { description: 'The id of the comment.' })
  readonly deletedCommentId!: string

  @Field(() => Post, {
    nullable: true,
    description: 'The post as it is now; null once it is gone.',
  })
  readonly post!: Post | null
}
