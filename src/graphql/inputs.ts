import { type ClassType, Extensions, Field, ID, InputType, Int } from 'type-graphql'
import { schemaNames } from '../engagement/api/engagement-names.ts'
import { type EngagementKind, kinds } from '../engagement/kinds.ts'
import { handleRule } from '../lib/ids.ts'
import { type AttachmentKind, AttachmentKindEnum } from '../posts/api/post-type.ts'
import { typeNamesOf } from './mutation-names.ts'

@InputType()
export class MutationInput {
  @Field(() => String, {
    nullable: true,
    description:
      'Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key.',
  })
  readonly clientMutationId?: string | null
}

const urlRule = 'an http or https URL of at most 2,048 characters'
const avatarDescription = `The picture of the user, ${urlRule}`
const bannerDescription = `The wide picture above the profile, ${urlRule}`

/** The inputs with the profile of a new account. */
function withNewProfile(Base: ClassType<object>, defaultHandle: string) {
  @InputType()
  class NewProfile extends Base {
    @Field(() => String, {
      nullable: true,
      description: `The handle of the user: ${handleRule}. Any case and a leading "@" are accepted. Default: ${defaultHandle}, if that is a handle.`,
    })
    readonly handle?: string | null

    @Field(() => String, {
      description:
        'The display name of the user, 1 to 64 characters. Invisible characters and reserved names are refused.',
    })
    readonly name!: string

    @Field(() => String, {
      nullable: true,
      description: 'A short text about the user, at most 256 characters.',
    })
    readonly bio?: string | null

    @Field(() => String, { nullable: true, description: `${avatarDescription}.` })
    readonly avatarUrl?: string | null

    @Field(() => String, { nullable: true, description: `${bannerDescription}.` })
    readonly bannerUrl?: string | null
  }
  return NewProfile
}

@InputType({ description: 'Input of createUser.' })
export class CreateUserInput extends withNewProfile(MutationInput, 'the subject of the token') {
  readonly clientMutationId?: string | null
}

@InputType({ description: 'A user of createUsers.' })
export class NewUser extends withNewProfile(Object as ClassType<object>, 'the subject') {
  @Field(() => String, {
    description:
      'The subject that the tokens of the user will have, 1 to 255 bytes, by the issuer that the server acts for.',
  })
  readonly subject!: string
}

/** The most users of a mutation of several. */
export const usersMax = 100

@InputType({ description: 'Input of createUsers.' })
export class CreateUsersInput extends MutationInput {
  @Field(() => [NewUser], {
    description: `The users, at most ${usersMax}, with distinct subjects and handles.`,
  })
  readonly users!: readonly NewUser[]
}

@InputType({
  description: 'Input of updateUser. Absent fields stay unchanged. An empty text removes a field.',
})
export class UpdateUserInput extends MutationInput {
  @Field(() => String, {
    nullable: true,
    description:
      'Another handle of the user. The one before stays reserved for the user for some time. Links by id and mentions stay.',
  })
  readonly handle?: string | null

  @Field(() => String, {
    nullable: true,
    description:
      'The display name of the user, 1 to 64 characters. Invisible characters and reserved names are refused.',
  })
  readonly name?: string | null

  @Field(() => String, {
    nullable: true,
    description:
      'A short text about the user, at most 256 characters. Null or an empty text removes it.',
  })
  readonly bio?: string | null

  @Field(() => String, {
    nullable: true,
    description: `${avatarDescription}. Null or an empty text removes it.`,
  })
  readonly avatarUrl?: string | null

  @Field(() => String, {
    nullable: true,
    description: `${bannerDescription}. Null or an empty text removes it.`,
  })
  readonly bannerUrl?: string | null
}

@InputType({ description: 'Input of deleteUser.' })
export class DeleteUserInput extends MutationInput {}

/** A mutation's own input type, with the fields of `Base`. */
export function inputOf<Input extends MutationInput>(
  mutation: string,
  Base: ClassType<Input>,
): ClassType<Input> {
  @InputType(typeNamesOf(mutation).input, { description: `Input of ${mutation}.` })
  class OwnInput extends (Base as ClassType<MutationInput>) {}
  return OwnInput as ClassType<Input>
}

@Extensions({ isOneOf: true })
@InputType({
  description:
    'A user, named by the global id or by the handle. Set exactly one. In a variable, an empty other one is absent.',
})
export class UserRef {
  @Field(() => ID, { nullable: true, description: 'The global id of the user.' })
  readonly id?: string | null

  @Field(() => String, {
    nullable: true,
    description: `The handle of the user: ${handleRule}. Any case and a leading "@" are accepted, and a handle that the user gave up and keeps.`,
  })
  readonly handle?: string | null
}

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

@InputType({ description: 'An attachment of a new post.' })
export class AttachmentInput {
  @Field(() => String, { description: 'An http or https URL of at most 2,048 characters.' })
  readonly url!: string

  @Field(() => AttachmentKindEnum, { description: 'The kind of content at the URL.' })
  readonly kind!: AttachmentKind

  @Field(() => String, {
    nullable: true,
    description: 'Alternative text of the attachment, at most 2,000 characters.',
  })
  readonly alt?: string | null

  @Field(() => Int, {
    nullable: true,
    description: 'The width of the image or video in pixels, 1 to 65,535.',
  })
  readonly width?: number | null

  @Field(() => Int, {
    nullable: true,
    description: 'The height of the image or video in pixels, 1 to 65,535.',
  })
  readonly height?: number | null

  @Field(() => String, {
    nullable: true,
    description:
      'The BlurHash of the image or video, 6 to 166 characters, for a preview while it loads.',
  })
  readonly blurhash?: string | null
}

@InputType({ description: 'Input of createPost.' })
export class CreatePostInput extends MutationInput {
  @Field(() => String, {
    description:
      'The text of the post, at most 300 characters and 3,000 bytes. It may be empty if the post has an attachment.',
  })
  readonly text!: string

  @Field(() => [AttachmentInput], {
    nullable: true,
    description: 'The attachments of the post, at most four.',
  })
  readonly attachments?: readonly AttachmentInput[] | null
}

/** The base of the inputs of mutations on a post. */
@InputType()
export class PostInput extends MutationInput {
  @Field(() => ID, { description: 'The global id of the post.' })
  readonly postId!: string
}

@InputType({ description: 'Input of deletePost.' })
export class DeletePostInput extends PostInput {}

/** Input of a mutation that adds an entry to a list of a post. Only an entry of a kind with text has `text`. */
export interface AddEngagementInput extends PostInput {
  readonly text?: string
}

/** Input of the mutation that adds an entry of a kind. */
export function addInputOf(kind: EngagementKind): ClassType<AddEngagementInput> {
  const { noun, hasText, add } = kinds[kind]
  const AddInput = inputOf<AddEngagementInput>(add.mutation, PostInput)
  if (hasText) {
    const description = `The text of the ${noun}, at most 300 characters and 3,000 bytes.`
    Field(() => String, { description })(AddInput.prototype, 'text')
  }
  return AddInput
}

/** Input of a mutation that removes an entry by its global id, in a field that the kind names. */
export type RemoveEngagementInput = MutationInput & { readonly [entryId: string]: unknown }

/** Input of the mutation that removes an entry of a kind by its global id. */
export function removeInputOf(kind: EngagementKind): ClassType<RemoveEngagementInput> {
  const { noun, remove } = kinds[kind]
  const RemoveInput = inputOf<RemoveEngagementInput>(
    remove.mutation,
    MutationInput as ClassType<RemoveEngagementInput>,
  )
  const { entryId } = schemaNames(kind)
  Field(() => ID, { description: `The global id of the ${noun}.` })(RemoveInput.prototype, entryId)
  return RemoveInput
}
