import { Field, ID, Int, ObjectType } from 'type-graphql'
import type { EdgeSource } from '../../db/collections.ts'
import { profileLeaves } from '../../entities/account.ts'
import {
  connectionOf,
  countedConnectionOf,
  EdgeSourceEnum,
  edgeOf,
  Node,
} from '../../graphql/types/common.ts'
import { GraphQLDateTime } from '../../graphql/types/date-time.ts'
import { addLeaves } from '../../graphql/types/leaf.ts'
import type { UserId } from '../../lib/ids.ts'

/** The relations between the viewer and a user. */
interface ViewerRelation {
  readonly viewerFollows?: boolean
  readonly followsViewer?: boolean
  readonly viewerHasMuted?: boolean
  readonly viewerHasBlocked?: boolean
}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description:
    "A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty.",
})
export class User extends Node implements ViewerRelation {
  /** The id of the account, for resolvers. */
  readonly account!: UserId

  @Field(() => ID, { description: 'The global id of the user.' })
  override readonly id!: string

  @Field(() => String, {
    description:
      'The unique handle of the user. The user can change it, so keep the id, and show the handle.',
  })
  readonly handle!: string

  @Field(() => String, {
    description:
      'The display name of the user, at most 64 characters. The handle if a block hides the profile.',
  })
  readonly name!: string

  @Field(() => GraphQLDateTime, { description: 'When the account was created.' })
  readonly createdAt!: Date

  @Field(() => Int, {
    nullable: true,
    description:
      'Number of users who follow the user, including users that a block hides. Null if a block hides the profile.',
  })
  readonly followerCount?: number | null

  @Field(() => Int, {
    nullable: true,
    description:
      'Number of users that the user follows, including users that a block hides. Null if a block hides the profile.',
  })
  readonly followingCount?: number | null

  @Field(() => Int, {
    nullable: true,
    description: 'Number of posts of the user. Null if a block hides the profile.',
  })
  readonly postCount?: number | null

  @Field(() => Boolean, {
    description: 'Whether the user is the viewer. False for an anonymous request.',
  })
  readonly isViewer!: boolean

  @Field(() => Boolean, {
    description:
      'Whether the viewer may follow the user, also if the viewer does already. False for the viewer, after a block, and for an anonymous request.',
  })
  readonly viewerCanFollow!: boolean

  @Field(() => Boolean, {
    description: 'Whether the viewer follows the user. False for an anonymous request.',
  })
  readonly viewerFollows!: boolean

  @Field(() => Boolean, {
    description: 'Whether the user follows the viewer. False for an anonymous request.',
  })
  readonly followsViewer!: boolean

  @Field(() => Boolean, {
    description: 'Whether the viewer muted the user. Only the viewer can see this.',
  })
  readonly viewerHasMuted!: boolean

  @Field(() => Boolean, {
    description: 'Whether the viewer blocked the user. Only the viewer can see this.',
  })
  readonly viewerHasBlocked!: boolean

  @Field(() => [String], {
    description:
      "The viewer's groups that contain the user, at most ten. Only the viewer can see this.",
  })
  readonly viewerGroups!: readonly string[]
}

addLeaves(User, Object.entries(profileLeaves))

@ObjectType({ simpleResolvers: true, description: 'A user in a list.' })
export class UserEdge extends edgeOf(() => User, 'The user') {}

@ObjectType({ simpleResolvers: true, description: 'A page of users.' })
export class UserConnection extends connectionOf(() => UserEdge) {}

@ObjectType({
  simpleResolvers: true,
  description: 'A follower or followee in a list.',
})
export class FollowEdge extends edgeOf(() => User, 'The follower or followee') {
  @Field(() => GraphQLDateTime, { description: 'When the follow began.' })
  readonly followedAt!: Date

  @Field(() => EdgeSourceEnum, { description: 'The origin of the follow.' })
  readonly source!: EdgeSource
}

@ObjectType({
  simpleResolvers: true,
  description:
    'A page of followers or followees, without users that a block hides from the viewer.',
})
export class FollowConnection extends countedConnectionOf(
  () => FollowEdge,
  'Number of all followers or followees, including users that a block hides. Null for a group, and if a block hides the profile.',
) {}
