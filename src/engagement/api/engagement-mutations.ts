import { type ClassType, Field, ID } from 'type-graphql'
import {
  ChangePayload,
  inputOf,
  MutationInput,
  orNull,
  Payload,
  payloadOf,
} from '../../graphql/mutation-types.ts'
import { PostInput } from '../../posts/api/post-mutations.ts'
import { Post } from '../../posts/api/post-type.ts'
import { type EngagementKind, isPublic, kinds } from '../kinds.ts'
import { schemaNames } from './engagement-names.ts'
import { engagementTypes } from './engagement-types.ts'

/**
 * Input of a mutation that adds an entry to a list of a post. Only an entry of a kind with text has
 * `text`.
 */
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

const postOptions = {
  nullable: true,
  description:
    'The post after the mutation, or null if the post does not exist or a block hides it.',
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
