import { type ClassType, Field, ID, InputType } from 'type-graphql'
import { type EngagementKind, kinds } from '../engagement/kinds.ts'
import { handleRule } from '../lib/ids.ts'
import { schemaNames } from './engagement-names.ts'
import { type AttachmentKind, AttachmentKindEnum } from './types/post.ts'

@InputType()
export abstract class MutationInput {
  @Field(() => String, {
    nullable: true,
    description:
      'Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result and changes nothing.',
  })
  readonly clientMutationId?: string | null
}

@InputType({ description: 'Input of createUser.' })
export class CreateUserInput extends MutationInput {
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
}

@InputType({ description: 'Input of updateUser. Absent fields stay unchanged.' })
export class UpdateUserInput extends MutationInput {
  @Field(() => String, {
    nullable: true,
    description:
      'The display name of the user, 1 to 64 characters. Invisible characters and reserved names are refused.',
  })
  readonly name?: string | null

  @Field(() => String, {
    nullable: true,
    description: 'A short text about the user, at most 256 characters. Null removes it.',
  })
  readonly bio?: string | null
}

@InputType({ description: 'Input of deleteUser.' })
export class DeleteUserInput extends MutationInput {}

@InputType({ description: 'Input of mutations on another user.' })
export class UserInput extends MutationInput {
  @Field(() => String, { description: `The handle of the other user: ${handleRule}.` })
  readonly handle!: string
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
    description: 'Alternative text of the attachment, at most 1,000 characters.',
  })
  readonly alt?: string | null
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

@InputType({ description: 'Input of deletePost.' })
export class DeletePostInput extends MutationInput {
  @Field(() => ID, { description: 'The global id of the post.' })
  readonly postId!: string
}

@InputType({ description: 'Input of mutations on a post.' })
export class PostInput extends MutationInput {
  @Field(() => ID, { description: 'The global id of the post.' })
  readonly postId!: string
}

/** Input of a mutation that adds an entry to a list of a post. Only an entry of a kind with text has `text`. */
export interface AddEngagementInput extends PostInput {
  readonly text?: string
}

/** Input of the mutation that adds an entry of a kind. */
export function addInputOf(kind: EngagementKind): ClassType<AddEngagementInput> {
  const { noun, hasText, add } = kinds[kind]
  if (!hasText) return PostInput

  @InputType(schemaNames(kind).addInput, { description: `Input of ${add.mutation}.` })
  class AddInput extends PostInput {
    @Field(() => String, {
      description: `The text of the ${noun}, at most 300 characters and 3,000 bytes.`,
    })
    readonly text!: string
  }
  return AddInput
}

/** Input of a mutation that removes an entry by its global id, in a field that the kind names. */
export type RemoveEngagementInput = MutationInput & { readonly [entryId: string]: unknown }

/** Input of the mutation that removes an entry of a kind by its global id. */
export function removeInputOf(kind: EngagementKind): ClassType<RemoveEngagementInput> {
  const { noun, remove } = kinds[kind]
  const { removeInput, entryId } = schemaNames(kind)

  @InputType(removeInput, { description: `Input of ${remove.mutation}.` })
  class RemoveInput extends MutationInput {
    readonly [field: string]: unknown
  }
  Field(() => ID, { description: `The global id of the ${noun}.` })(RemoveInput.prototype, entryId)
  return RemoveInput
}
