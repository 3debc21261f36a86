import { type ClassType, Field, InputType, ObjectType } from 'type-graphql'
import type { ErrorCode } from '../errors.ts'
import { typeNamesOf } from './mutation-names.ts'
import { ErrorCodeEnum } from './types/common.ts'

@InputType()
export class MutationInput {
  @Field(() => String, {
    nullable: true,
    description:
      'Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key.',
  })
  readonly clientMutationId?: string | null
}

/** A mutation's own input type, with the fields of `Base`. */
export function inputOf<Input extends MutationInput>(
  mutation: string,
  Base: ClassType<Input>,
): ClassType<Input> {
  @InputType(typeNamesOf(mutation).input, { description: `Input of ${mutation}.` })
  class OwnInput extends (Base as ClassType<MutationInput>) {}
  return OwnInput as ClassType<Input>
}

/** The most users of a mutation of several. */
export const usersMax = 100

/** Part of the description of an object that a repeated mutation reads again. */
export const orNull = (noun: string) => `Null for a repeat after the ${noun} was deleted.`

@ObjectType({ simpleResolvers: true })
export class Payload {
  @Field(() => String, { nullable: true, description: 'The clientMutationId of the input.' })
  readonly clientMutationId?: string | null
}

@ObjectType({ simpleResolvers: true })
export class ChangePayload extends Payload {
  @Field(() => Boolean, {
    description:
      'Whether the mutation changed anything. False if the requested state already existed.',
  })
  readonly changed!: boolean
}

/** A mutation's own payload type, with the fields of `Base`. */
export function payloadOf(mutation: string, Base: ClassType): ClassType {
  const description = `Result of ${mutation}.`
  @ObjectType(typeNamesOf(mutation).payload, { simpleResolvers: true, description })
  class OwnPayload extends Base {}
  return OwnPayload
}

/** The options of the field of the viewer, which a payload has if counts of the viewer change. */
export const viewerOptions = { description: 'The viewer after the mutation.' }

@ObjectType({ simpleResolvers: true, description: 'Why one of several users was refused.' })
export class Refusal {
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

export const refusalOptions = { nullable: true, description: 'Why the user was refused, or null.' }
