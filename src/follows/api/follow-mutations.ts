import { Field, InputType, ObjectType } from 'type-graphql'
import {
  ChangePayload,
  MutationInput,
  Payload,
  Refusal,
  refusalOptions,
  usersMax,
  viewerOptions,
} from '../../graphql/mutation-types.ts'
import { UserRef } from '../../users/api/account-mutations.ts'
import { User } from '../../users/api/user-type.ts'
import { Viewer } from '../../users/api/viewer-type.ts'

/** The base of the inputs of mutations on another user. */
@InputType()
export class UserInput extends MutationInput {
  @Field(() => UserRef, { description: 'The other user.' })
  readonly user!: UserRef
}

@InputType({ description: 'Input of followUsers.' })
export class FollowUsersInput extends MutationInput {
  @Field(() => [UserRef], { description: `The other users, at most ${usersMax}.` })
  readonly users!: readonly UserRef[]
}

@InputType({ description: 'Input of setFollowGroups.' })
export class SetFollowGroupsInput extends UserInput {
  @Field(() => [String], {
    description:
      'At most ten group names of at most 64 characters each. An empty list removes the followee from all groups.',
  })
  readonly groups!: readonly string[]
}

/** The base of the payloads of follows, mutes and blocks. */
@ObjectType({ simpleResolvers: true })
export class RelationPayload extends ChangePayload {
  @Field(() => User, {
    nullable: true,
    description: 'The other user, or null if the user has no account.',
  })
  readonly user!: User | null

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}

@ObjectType({ simpleResolvers: true, description: 'What followUsers did for one of its users.' })
class FollowUsersResult {
  @Field(() => User, {
    nullable: true,
    description: 'The other user, or null if the user has no account.',
  })
  readonly user!: User | null

  @Field(() => Boolean, {
    description: 'Whether the viewer did not follow the user before.',
  })
  readonly changed!: boolean

  @Field(() => Refusal, refusalOptions)
  readonly error!: Refusal | null
}

@ObjectType({ simpleResolvers: true, description: 'Result of followUsers.' })
export class FollowUsersPayload extends Payload {
  @Field(() => [FollowUsersResult], { description: 'A result for each user, in order.' })
  readonly results!: readonly FollowUsersResult[]

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
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

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}
