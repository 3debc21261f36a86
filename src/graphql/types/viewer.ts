import { Field, ObjectType } from 'type-graphql'
import { connectionOf, edgeOf } from './common.ts'
import { User } from './user.ts'

@ObjectType({
  simpleResolvers: true,
  description: 'One of the groups in which the viewer keeps followees.',
})
export class FollowGroup {
  @Field(() => String, { description: 'Its name, for following(group:) and timeline(group:).' })
  readonly name!: string
}

@ObjectType({ simpleResolvers: true, description: 'A group in the list.' })
export class FollowGroupEdge extends edgeOf(() => FollowGroup, 'The group.') {}

@ObjectType({ simpleResolvers: true, description: 'A page of groups, by name.' })
export class FollowGroupConnection extends connectionOf(() => FollowGroupEdge) {}

@ObjectType({ simpleResolvers: true, description: 'Who is signed in, and what only they may see.' })
export class Viewer {
  @Field(() => String, { description: "The verified token's subject." })
  readonly handle!: string

  @Field(() => User, { nullable: true, description: 'Their account; null until createUser.' })
  readonly user!: User | null
}
