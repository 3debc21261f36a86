import { Field, GraphQLISODateTime, ID, ObjectType } from 'type-graphql'
import { connectionOf, edgeOf, Node } from './common.ts'
import { Post } from './post.ts'
import { User } from './user.ts'

@ObjectType({ simpleResolvers: true, implements: Node, description: 'A like of a post by a user.' })
export class Like extends Node {
  @Field(() => ID, { description: 'The global id of the like.' })
  override readonly id!: string

  @Field(() => User, {
    nullable: true,
    description: 'The user who likes the post, or null if the user has no account.',
  })
  readonly user!: User | null

  @Field(() => Post, {
    nullable: true,
    description: 'The liked post, or null if the post does not exist.',
  })
  readonly post!: Post | null

  @Field(() => GraphQLISODateTime, {
    description: 'When the user liked the post, with millisecond precision.',
  })
  readonly createdAt!: Date
}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description: 'A comment on a post.',
})
export class Comment extends Node {
  @Field(() => ID, { description: 'The global id of the comment.' })
  override readonly id!: string

  @Field(() => User, {
    nullable: true,
    description: 'The author of the comment, or null if the author has no account.',
  })
  readonly user!: User | null

  @Field(() => Post, {
    nullable: true,
    description: 'The post of the comment, or null if the post does not exist.',
  })
  readonly post!: Post | null

  @Field(() => String, {
    description: 'The text of the comment, at most 300 characters and 3,000 bytes, in Unicode NFC.',
  })
  readonly text!: string

  @Field(() => GraphQLISODateTime, {
    description: 'When the comment was created, with millisecond precision.',
  })
  readonly createdAt!: Date
}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description: 'A share of a post by a user.',
})
export class Share extends Node {
  @Field(() => ID, { description: 'The global id of the share.' })
  override readonly id!: string

  @Field(() => User, {
    nullable: true,
    description: 'The user who shared the post, or null if the user has no account.',
  })
  readonly user!: User | null

  @Field(() => Post, {
    nullable: true,
    description: 'The shared post, or null if the post does not exist.',
  })
  readonly post!: Post | null

  @Field(() => GraphQLISODateTime, {
    description: 'When the user shared the post, with millisecond precision.',
  })
  readonly createdAt!: Date
}

@ObjectType({ simpleResolvers: true, description: 'A like in a list.' })
export class LikeEdge extends edgeOf(() => Like, 'The like') {}

@ObjectType({ simpleResolvers: true, description: 'A page of the likes of a post.' })
export class LikeConnection extends connectionOf(() => LikeEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A comment in a list.' })
export class CommentEdge extends edgeOf(() => Comment, 'The comment') {}

@ObjectType({ simpleResolvers: true, description: 'A page of the comments on a post.' })
export class CommentConnection extends connectionOf(() => CommentEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A share in a list.' })
export class ShareEdge extends edgeOf(() => Share, 'The share') {}

@ObjectType({ simpleResolvers: true, description: 'A page of the shares of a post.' })
export class ShareConnection extends connectionOf(() => ShareEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A post that a user likes, in a list.' })
export class LikedPostEdge extends edgeOf(() => Post, 'The post') {
  @Field(() => GraphQLISODateTime, { description: 'When the user liked the post.' })
  readonly likedAt!: Date
}

@ObjectType({ simpleResolvers: true, description: 'A page of the posts that a user likes.' })
export class LikedPostConnection extends connectionOf(() => LikedPostEdge) {}
