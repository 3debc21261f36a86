import { Field, ID, ObjectType, registerEnumType } from 'type-graphql'
import { connectionOf, edgeOf, Node } from '../../graphql/types/common.ts'
import { type Role, roleNames } from '../subject.ts'
import { User } from './user-type.ts'

const RoleEnum = Object.fromEntries(roleNames.map((name) => [name, name]))

registerEnumType(RoleEnum, {
  name: 'Role',
  description: 'A role of a viewer, which the issuer of the token grants.',
  valuesConfig: {
    MODERATOR: { description: 'A moderator of the content.' },
    ADMIN: { description: 'An administrator of the application.' },
  },
})

@ObjectType({
  simpleResolvers: true,
  description: 'A private group of followees of the viewer.',
})
export class FollowGroup {
  @Field(() => String, {
    description: 'The name of the group, for following(group:) and timeline(group:).',
  })
  readonly name!: string
}

@ObjectType({ simpleResolvers: true, description: 'A group in a list.' })
export class FollowGroupEdge extends edgeOf(() => FollowGroup, 'The group') {}

@ObjectType({ simpleResolvers: true, description: 'A page of groups, sorted by name.' })
export class FollowGroupConnection extends connectionOf(() => FollowGroupEdge) {}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description: 'The signed-in user, with the lists that only this user can see.',
})
export class Viewer extends Node {
  @Field(() => ID, {
    description: 'The global id of the viewer. The node query answers it to the viewer alone.',
  })
  override readonly id!: string

  @Field(() => String, {
    nullable: true,
    description: 'The handle of the viewer, or null before createUser.',
  })
  readonly handle!: string | null

  @Field(() => User, {
    nullable: true,
    description: 'The account of the viewer, or null before createUser.',
  })
  readonly user!: User | null

  @Field(() => [RoleEnum], { description: 'The roles of the viewer, from the verified token.' })
  readonly roles!: readonly Role[]
}
