import { Field, GraphQLISODateTime, ID, ObjectType } from 'type-graphql'
import { connectionOf, edgeOf, Node } from './common.ts'
import { Post } from './post.ts'
import { User } from './user.ts'

@ObjectType({ simpleResolvers: true, implements: Node, description: 'That somebody likes a post.' })
export class Like extends Node {
  @Field(() => ID, { description: 'The global id of the like.' })
  override readonly id!: string

  @Field(() => User, { nullable: true, description: 'Who likes it; null once they are gone.' })
  readonly user!: User | null

  @Field(() => Post, { nullable: true, description: 'What is liked; null once it is gone.' })
  readonly post!: Post | null

  @Field(() => GraphQLISODateTime, { description: 'Since when, to the millisecond.' })
  readonly createdAt!: Date
}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description: 'What somebody says about a post.',
})
export class Comment extends Node {
  @Field(() => ID, { description: 'The global id of the comment.' })
  override readonly id!: string

  @Field(() => User, { nullable: true, description: 'Who says it; null once they are gone.' })
  readonly user!: User | null

  @Field(() => Post, { nullable: true, description: 'What it is about; null once it is gone.' })
  readonly post!: Post | null

  @Field(() => String, { description: 'At most 300 characters and 3,000 bytes, in Unicode NFC.' })
  readonly text!: string

  @Field(() => GraphQLISODateTime, { description: 'When it was said, to the millisecond.' })
  readonly createdAt!: Date
}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description: 'That somebody shared a post.',
})
export class Share extends Node {
  @Field(() => ID, { description: 'The global id of the share.' })
  override readonly id!: string

  @Field(() => User, { nullable: true, description: 'Who shared it; null once they are gone.' })
  readonly user!: User | null

  @Field(() => Post, { nullable: true, description: 'What was shared; null once it is gone.' })
  readonly post!: Post | null

  @Field(() => GraphQLISODateTime, { description: 'When, to the millisecond.' })
  readonly createdAt!: Date
}

@ObjectType({ simpleResolvers: true, description: 'A like in a list.' })
export class LikeEdge extends edgeOf(() => Like, 'The like.') {}

@ObjectType({ simpleResolvers: true, description: 'A page of the likes of a post.' })
export class LikeConnection extends connectionOf(() => LikeEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A comment in a list.' })
export class CommentEdge extends edgeOf(() => Comment, 'The comment.') {}

@ObjectType({ simpleResolvers: true, description: 'A page of the comments on a post.' })
export class CommentConnection extends connectionOf(() => CommentEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A share in a list.' })
export class ShareEdge extends edgeOf(() => Share, 'The share.') {}

@ObjectType({ simpleResolvers: true, description: 'A page of the shares of a post.' })
export class ShareConnection extends connectionOf(() => ShareEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A post that the user likes.' })
export class LikedPostEdge extends edgeOf(() => Post, 'The post.') {
  @Field(() => GraphQLISODateTime, { description: 'Since when the user likes it.' })
  readonly likedAt!: Date
}

@ObjectType({ simpleResolvers: true, description: 'A page of the posts that a user likes.' })
export class LikedPostConnection extends connectionOf(() => LikedPostEdge) {}
