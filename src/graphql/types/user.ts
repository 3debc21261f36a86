import { Field, GraphQLISODateTime, ID, Int, ObjectType } from 'type-graphql'
import type { EdgeSource } from '../../db/collections.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Stats } from '../../users/stats.ts'
import { connectionOf, EdgeSourceEnum, edgeOf, Node } from './common.ts'

@ObjectType({
  simpleResolvers: true,
  description: 'The counters of a user. They change together with what they count.',
})
export class UserStats implements Stats {
  @Field(() => Int, { description: 'How many people follow the user.' })
  readonly followers!: number

  @Field(() => Int, { description: 'How many people the user follows.' })
  readonly following!: number

  @Field(() => Int, { description: 'How many posts the user has.' })
  readonly posts!: number
}

/** What stands between the viewer and a user. */
interface ViewerRelation {
  readonly viewerFollows?: boolean
  readonly followsViewer?: boolean
  readonly viewerHasMuted?: boolean
  readonly viewerHasBlocked?: boolean
}

@ObjectType({ simpleResolvers: true, implements: Node, description: 'A person.' })
export class User extends Node implements ViewerRelation {
  @Field(() => ID, { description: 'The global id of the user.' })
  override readonly id!: string

  @Field(() => String, { description: 'The unique name that the user is known and mentioned by.' })
  readonly handle!: UserId

  @Field(() => String, { description: 'The name the user goes by, at most 64 characters.' })
  readonly name!: string

  @Field(() => String, {
    nullable: true,
    description: 'What the user says of themselves, at most 256 characters.',
  })
  readonly bio?: string | null

  @Field(() => GraphQLISODateTime, { description: 'When the account was opened.' })
  readonly createdAt!: Date

  @Field(() => UserStats, { description: 'How many followers, followees and posts the user has.' })
  readonly stats!: Stats

  @Field(() => Boolean, { description: 'Whether the viewer follows the user; false for nobody.' })
  readonly viewerFollows!: boolean

  @Field(() => Boolean, { description: 'Whether the user follows the viewer; false for nobody.' })
  readonly followsViewer!: boolean

  @Field(() => Boolean, {
    description: 'Whether the viewer muted the user. Only the viewer can see it.',
  })
  readonly viewerHasMuted!: boolean

  @Field(() => Boolean, {
    description: 'Whether the viewer blocked the user. Only the viewer can see it.',
  })
  readonly viewerHasBlocked!: boolean

  @Field(() => [String], {
    description:
      'In which of their groups the viewer put the user, at most ten. Only the viewer can see it.',
  })
  readonly viewerGroups!: readonly string[]
}

@ObjectType({ simpleResolvers: true, description: 'A user in a list.' })
export class UserEdge extends edgeOf(() => User, 'The user.') {}

@ObjectType({ simpleResolvers: true, description: 'A page of users.' })
export class UserConnection extends connectionOf(() => UserEdge) {}

@ObjectType({
  simpleResolvers: true,
  description: 'Somebody who follows, or is followed by, the user whose list it is.',
})
export class FollowEdge extends edgeOf(() => User, 'The person at the other end.') {
  @Field(() => GraphQLISODateTime, { description: 'Since when.' })
  readonly followedAt!: Date

  @Field(() => EdgeSourceEnum, { description: 'Where the follow came from.' })
  readonly source!: EdgeSource
}

@ObjectType({ simpleResolvers: true, description: 'A page of followers or followees.' })
export class FollowConnection extends connectionOf(() => FollowEdge) {}
