import { Field, Int, ObjectType, registerEnumType } from 'type-graphql'
import { asEnum, connectionOf, edgeOf, FeedStrategyEnum } from '../../graphql/types/common.ts'
import { GraphQLDateTime } from '../../graphql/types/date-time.ts'
import { Post } from '../../posts/api/post-type.ts'
import { User } from '../../users/api/user-type.ts'
import { newsAuthorsMax, newsMax } from '../pages/news.ts'
import { type ReasonCode, reasonCodes } from '../pages/reasons.ts'
import type { FeedStrategyName } from '../strategies/list.ts'

@ObjectType({ simpleResolvers: true, description: 'A post in a timeline.' })
export class TimelineEdge extends edgeOf(() => Post, 'The post') {}

@ObjectType({
  simpleResolvers: true,
  description:
    'A page of a home timeline: posts of the viewer and of followees, without muted and blocked authors.',
})
export class TimelineConnection extends connectionOf(() => TimelineEdge) {
  @Field(() => FeedStrategyEnum, {
    description: 'The requested strategy, or the configured default strategy.',
  })
  readonly strategy!: FeedStrategyName

  @Field(() => FeedStrategyEnum, {
    description:
      'The strategy that produced this page. It is FANOUT_ON_READ if the requested strategy does not reach back far enough or does not cover the viewer yet.',
  })
  readonly servedBy!: FeedStrategyName

  @Field(() => Boolean, {
    description:
      'Whether a post of this timeline may be missing because its delivery has not ended. If false, the page holds every post that belonged to it when the query began. Always false for FANOUT_ON_READ.',
  })
  readonly pending!: boolean

  @Field(() => String, {
    nullable: true,
    description:
      'The cursor for polls by a client that holds this page. It is below every post that may still appear, so a page read from it may repeat posts. Null for a page after a cursor, because newer posts are not on it.',
  })
  readonly pollCursor!: string | null
}

@ObjectType({
  simpleResolvers: true,
  description:
    'What is new in a home timeline, for a client that polls. It is not a part of the timeline.',
})
export class TimelineNews {
  @Field(() => Int, {
    description: `The number of posts that the client does not hold yet, at most ${newsMax}.`,
  })
  readonly count!: number

  @Field(() => Boolean, { description: `Whether there are more than ${newsMax} such posts.` })
  readonly hasMore!: boolean

  @Field(() => [User], {
    description: `The authors of the newest such posts, newest first, at most ${newsAuthorsMax}.`,
  })
  readonly authors!: readonly User[]

  @Field(() => Boolean, {
    description:
      'Whether the posts that the client holds differ from the timeline, for example after a follow, a block or a deletion. Then load the first page again. If false, they are up to date, down to the oldest post of the first page.',
  })
  readonly changed!: boolean

  @Field(() => String, {
    description: 'The cursor of the next poll, if the client does not read the new posts now.',
  })
  readonly pollCursor!: string
}

export const TimelineReasonCodeEnum = asEnum(Object.keys(reasonCodes) as ReasonCode[])
registerEnumType(TimelineReasonCodeEnum, {
  name: 'TimelineReasonCode',
  description: 'A reason why a timeline shows or does not show a post.',
  valuesConfig: Object.fromEntries(
    Object.entries(reasonCodes).map(([code, description]) => [code, { description }]),
  ),
})

@ObjectType({
  simpleResolvers: true,
  description: 'A reason why a timeline shows or does not show a post, with details.',
})
export class TimelineReason {
  @Field(() => TimelineReasonCodeEnum, { description: 'The code of the reason.' })
  readonly code!: ReasonCode

  @Field(() => String, { description: 'The reason as an English sentence.' })
  readonly message!: string

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When the viewer followed the author. Set only for the code FOLLOWED.',
  })
  readonly since?: Date | null

  @Field(() => [String], {
    description:
      "The viewer's groups that contain the author. Filled only for the codes IN_GROUP and NOT_IN_GROUP.",
  })
  readonly groups!: readonly string[]
}
