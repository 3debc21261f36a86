import { type ClassType, Field, ID, ObjectType } from 'type-graphql'
import { schemaNames } from '../engagement/api/engagement-names.ts'
import { engagementTypes } from '../engagement/api/engagement-types.ts'
import { type EngagementKind, isPublic, kinds } from '../engagement/kinds.ts'
import type { ErrorCode } from '../errors.ts'
import { Post, TimelineEdge } from '../posts/api/post-type.ts'
import { User } from '../users/api/user-type.ts'
import { Viewer } from '../users/api/viewer-type.ts'
import { typeNamesOf } from './mutation-names.ts'
import { ErrorCodeEnum } from './types/common.ts'

const postOptions = {
  nullable: true,
  description:
    'The post after the mutation, or null if the post does not exist or a block hides it.',
}

/** Part of the description of an object that a repeated mutation reads again. */
const orNull = (noun: string) => `Null for a repeat after the ${noun} was deleted.`

@ObjectType({ simpleResolvers: true })
class Payload {
  @Field(() => String, { nullable: true, description: 'The clientMutationId of the input.' })
  readonly clientMutationId?: string | null
}

@ObjectType({ simpleResolvers: true })
class ChangePayload extends Payload {
  @Field(() => Boolean, {
    description:
      'Whether the mutation changed anything. False if the requested state already existed.',
  })
  readonly changed!: boolean
}

const viewerOptions = { description: 'The viewer after the mutation.' }

/** A mutation's own payload type, with the fields of `Base`. */
export function payloadOf(mutation: string, Base: ClassType): ClassType {
  const description = `Result of ${mutation}.`
  @ObjectType(typeNamesOf(mutation).payload, { simpleResolvers: true, description })
  class OwnPayload extends Base {}
  return OwnPayload
}

/** The base of the payloads of createUser and updateUser. */
@ObjectType({ simpleResolvers: true })
export class AccountPayload extends Payload {
  @Field(() => User, {
    nullable: true,
    description: `The viewer's account. ${orNull('account')}`,
  })
  readonly user!: User | null

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}

@ObjectType({ simpleResolvers: true, description: 'Result of deleteUser.' })
export class DeleteUserPayload extends ChangePayload {
  @Field(() => String, {
    nullable: true,
    description:
      'The handle of the deleted account, or null if there is no account. It becomes available when all data of the account is deleted, after 24 seconds at the earliest.',
  })
  readonly handle!: string | null

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
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

@ObjectType({ simpleResolvers: true, description: 'Why one of several users was refused.' })
class Refusal {
  @Field(() => ErrorCodeEnum, { description: 'As `extensions.code` of an error.' })
  readonly code!: ErrorCode

  @Field(() => String, { description: 'As the message of an error.' })
  readonly message!: string

  @Field(() => String, {
    nullable: true,
    description: 'The argument that was wrong, such as `input.users.3.handle`, or null.',
  })
  readonly argument!: string | null
}

const refusalOptions = { nullable: true, description: 'Why the user was refused, or null.' }

@ObjectType({ simpleResolvers: true, description: 'What createUsers did for one of its users.' })
class CreateUsersResult {
  @Field(() => String, { description: 'The subject of the input.' })
  readonly subject!: string

  @Field(() => Boolean, {
    description: 'Whether the mutation created the account. False if the subject had one before.',
  })
  readonly created!: boolean

  @Field(() => User, { nullable: true, description: 'The account of the subject.' })
  readonly user!: User | null

  @Field(() => Refusal, refusalOptions)
  readonly error!: Refusal | null
}

@ObjectType({ simpleResolvers: true, description: 'Result of createUsers.' })
export class CreateUsersPayload extends Payload {
  @Field(() => [CreateUsersResult], { description: 'A result for each user, in order.' })
  readonly results!: readonly CreateUsersResult[]

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

@ObjectType({ simpleResolvers: true, description: 'Result of createPost.' })
export class CreatePostPayload extends Payload {
  @Field(() => Post, { nullable: true, description: `The new post. ${orNull('post')}` })
  readonly post!: Post | null

  @Field(() => TimelineEdge, {
    nullable: true,
    description: `The edge of the new post in the viewer's home timeline, so that a client can insert it there. Its place is the first, unless others posted at the same time. ${orNull('post')}`,
  })
  readonly timelineEdge!: TimelineEdge | null

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}

@ObjectType({ simpleResolvers: true, description: 'Result of deletePost.' })
export class DeletePostPayload extends ChangePayload {
  @Field(() => ID, { description: 'The global id of the deleted post.' })
  readonly deletedPostId!: string

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}

/** Payload of the mutation that adds an entry of a kind. */
export function addPayloadOf(kind: EngagementKind): ClassType {
  const { noun, key, add } = kinds[kind]
  const { entry, edge } = schemaNames(kind)
  const AddPayload = payloadOf(add.mutation, key === 'actor' ? ChangePayload : Payload)
  const fields = AddPayload.prototype
  if (key === '_id') {
    const description = `The new ${noun}. ${orNull(noun)}`
    Field(() => engagementTypes[kind].node, { nullable: true, description })(fields, entry)
  }
  const description = `The edge of the ${noun} in ${isPublic(kind) ? 'the list of the post' : 'the list of its user'}, so that a client can insert it there. ${orNull(noun)}`
  Field(() => engagementTypes[kind].edge, { nullable: true, description })(fields, edge)
  Field(() => Post, postOptions)(fields, 'post')
  return AddPayload
}

/** Payload of the mutation that removes an entry of a kind. */
export function removePayloadOf(kind: EngagementKind): ClassType {
  const { noun, remove } = kinds[kind]
  const RemovePayload = payloadOf(remove.mutation, ChangePayload)
  const fields = RemovePayload.prototype
  const description = `The global id of the deleted ${noun}.`
  Field(() => ID, { description })(fields, schemaNames(kind).deletedId)
  Field(() => Post, postOptions)(fields, 'post')
  return RemovePayload
}
