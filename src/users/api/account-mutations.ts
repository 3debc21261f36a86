import { type ClassType, Extensions, Field, ID, InputType, ObjectType } from 'type-graphql'
import { profileLeaves } from '../../entities/account.ts'
import { givenLeaves, type LeafType } from '../../entities/leaves.ts'
import {
  ChangePayload,
  MutationInput,
  orNull,
  Payload,
  Refusal,
  refusalOptions,
  usersMax,
  viewerOptions,
} from '../../graphql/mutation-types.ts'
import { addLeaves } from '../../graphql/types/leaf.ts'
import { handleRule } from '../../lib/ids.ts'
import { User } from './user-type.ts'
import { Viewer } from './viewer-type.ts'

/** The fields of a profile as those of an input, each with what else its description says. */
const profileInputs = (more: (type: LeafType) => string) =>
  givenLeaves(profileLeaves).map(
    ([name, { type, description }]) =>
      [name, { type, description: `${description}.${more(type)}` }] as const,
  )

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
  }
  addLeaves(
    NewProfile,
    profileInputs(() => ''),
  )
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
}
addLeaves(
  UpdateUserInput,
  profileInputs((type) => ` Null ${type === 'text' ? 'or an empty text ' : ''}removes it.`),
)

@InputType({ description: 'Input of deleteUser.' })
export class DeleteUserInput extends MutationInput {}

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
