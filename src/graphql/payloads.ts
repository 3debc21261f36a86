import { type ClassType, Field, ID, ObjectType } from 'type-graphql'
import { type KindKeyedBy, kinds, kindsKeyedBy } from '../engagement/kinds.ts'
import { schemaNames } from './engagement-names.ts'
import { engagementTypes } from './types/engagement.ts'
import { Post } from './types/post.ts'
import { User } from './types/user.ts'

const postDescription =
  'The post after the mutation, or null if the post does not exist or a block hides it.'

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
      'The handle of the deleted account. It becomes available when all data of the account is deleted, after 24 seconds at the earliest.',
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

const ownMutations = kindsKeyedBy('actor').flatMap((kind) => [
  kinds[kind].add.mutation,
  kinds[kind].remove.mutation,
])

/** Result of the mutations of all kinds whose key is the actor. */
@ObjectType({
  simpleResolvers: true,
  description: `Result of ${ownMutations.slice(0, -1).join(', ')} or ${ownMutations.at(-1)}.`,
})
export class PostMarkPayload extends ChangePayload {
  @Field(() => Post, { nullable: true, description: postDescription })
  readonly post!: Post | null
}

/** Result of the mutation that adds an entry of a kind whose key is the entry's id. */
export function addPayloadOf(kind: KindKeyedBy<'_id'>): ClassType {
  const { noun, add } = kinds[kind]
  const { addPayload, entry } = schemaNames(kind)

  @ObjectType(addPayload, { simpleResolvers: true, description: `Result of ${add.mutation}.` })
  class AddPayload extends Payload {}
  const description = `The new ${noun}.`
  Field(() => engagementTypes[kind].node, { description })(AddPayload.prototype, entry)
  return AddPayload
}

/** Result of the mutation that removes an entry by its global id. */
export function removePayloadOf(kind: KindKeyedBy<'_id'>): ClassType {
  const { noun, remove } = kinds[kind]
  const { removePayload, deletedId } = schemaNames(kind)

  @ObjectType(removePayload, {
    simpleResolvers: true,
    description: `Result of ${remove.mutation}.`,
  })
  class RemovePayload extends ChangePayload {
    @Field(() => Post, { nullable: true, description: postDescription })
    readonly post!: Post | null
  }
  const description = `The global id of the deleted ${noun}.`
  Field(() => ID, { description })(RemovePayload.prototype, deletedId)
  return RemovePayload
}
