import { Field, GraphQLISODateTime, ID, Int, ObjectType, registerEnumType } from 'type-graphql'
import type { FeedStrategyName } from '../../config.ts'
import { type ReasonCode, reasonCodes } from '../../feed/reasons.ts'
import type { PostRef } from '../../lib/ids.ts'
import { asEnum, connectionOf, edgeOf, FeedStrategyEnum, Node } from './common.ts'
import { User } from './user.ts'

export const AttachmentKindEnum = { IMAGE: 'IMAGE', VIDEO: 'VIDEO', LINK: 'LINK' } as const
export type AttachmentKind = keyof typeof AttachmentKindEnum
registerEnumType(AttachmentKindEnum, {
  name: 'AttachmentKind',
  description: 'What stands at the URL of an attachment.',
  valuesConfig: {
    IMAGE: { description: 'A picture.' },
    VIDEO: { description: 'A film.' },
    LINK: { description: 'A page.' },
  },
})

@ObjectType({ simpleResolvers: true, description: 'Something shown with a post.' })
export class Attachment {
  @Field(() => String, { description: 'Where it is: http or https.' })
  readonly url!: string

  @Field(() => AttachmentKindEnum, { description: 'What it is.' })
  readonly kind!: AttachmentKind

  @Field(() => String, { nullable: true, description: 'What it shows, in words.' })
  readonly alt?: string | null
}

@ObjectType({ simpleResolvers: true, implements: Node, description: 'What somebody published.' })
export class Post extends Node {
  @Field(() => ID, { description: 'The global id of the post.' })
  override readonly id!: string

  @Field(() => User, { description: 'Who published it.' })
  readonly author!: User

  @Field(() => String, { description: 'At most 300 characters and 3,000 bytes, in Unicode NFC.' })
  readonly text!: string

  @Field(() => [Attachment], { description: 'What is shown with it, at most four.' })
  readonly attachments!: readonly Attachment[]

  @Field(() => GraphQLISODateTime, { description: 'When it was published, to the millisecond.' })
  readonly createdAt!: Date

  @Field(() => Int, { description: 'How many people like it.' })
  readonly likeCount!: number

  @Field(() => Int, { description: 'How many comments it has.' })
  readonly commentCount!: number

  @Field(() => Int, { description: 'How many people shared it.' })
  readonly shareCount!: number

  @Field(() => Boolean, { description: 'Whether the viewer likes it; false for nobody.' })
  readonly viewerHasLiked!: boolean

  @Field(() => Boolean, { description: 'Whether the viewer shared it; false for nobody.' })
  readonly viewerHasShared!: boolean

  /** What its lists are read by. */
  readonly ref!: PostRef
}

@ObjectType({ simpleResolvers: true, description: 'A post in a list.' })
export class PostEdge extends edgeOf(() => Post, 'The post.') {}

@ObjectType({ simpleResolvers: true, description: "A page of an author's posts." })
export class PostConnection extends connectionOf(() => PostEdge) {}

@ObjectType({ simpleResolvers: true, description: 'A post in a timeline.' })
export class TimelineEdge extends edgeOf(() => Post, 'The post.') {}

@ObjectType({
  simpleResolvers: true,
  description:
    'A page of a timeline: every post of everyone the reader follows, and of the reader, less those muted or blocked.',
})
export class Timeline extends connectionOf(() => TimelineEdge) {
  @Field(() => FeedStrategyEnum, {
    description: 'The strategy that was asked for, or the configured one.',
  })
  readonly strategy!: FeedStrategyName

  @Field(() => FeedStrategyEnum, {
    description:
      'The strategy the page came from: FANOUT_ON_READ where the one asked for does not reach so far, or does not cover the reader yet.',
  })
  readonly servedBy!: FeedStrategyName

  @Field(() => Boolean, {
    description:
      'Whether a post that belongs to this timeline may be missing because its delivery has not ended. False: the page holds every post that belonged to it when the query began. Always false for FANOUT_ON_READ.',
  })
  readonly pending!: boolean
}

export const TimelineReasonCodeEnum = asEnum(Object.keys(reasonCodes) as ReasonCode[])
registerEnumType(TimelineReasonCodeEnum, {
  name: 'TimelineReasonCode',
  description: 'What decides whether a post is in a timeline.',
  valuesConfig: Object.fromEntries(
    Object.entries(reasonCodes).map(([code, description]) => [code, { description }]),
  ),
})

@ObjectType({ simpleResolvers: true, description: 'Why a post is in a timeline, or is not.' })
export class TimelineReason {
  @Field(() => TimelineReasonCodeEnum, { description: 'The reason.' })
  readonly code!: ReasonCode

  @Field(() => String, { description: 'The same in words.' })
  readonly message!: string

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: 'Since when the viewer follows the author, where that is the reason.',
  })
  readonly since?: Date | null

  @Field(() => [String], {
    description: "The viewer's groups that the author is in, where groups are the reason.",
  })
  readonly groups!: readonly string[]
}
