import { Field, Int, ObjectType } from 'type-graphql'
import { GraphQLDateTime } from './date-time.ts'

@ObjectType({
  simpleResolvers: true,
  description:
    'What a client may use in a minute. A client is the viewer, or the address of an anonymous request.',
})
export class RateLimit {
  @Field(() => Int, { description: 'The cost that the client may use in a minute.' })
  readonly limit!: number

  @Field(() => Int, { description: 'The cost that the client has left after this request.' })
  readonly remaining!: number

  @Field(() => GraphQLDateTime, {
    description: 'When the whole limit is available again, if the client sends nothing until then.',
  })
  readonly resetAt!: Date

  @Field(() => Int, { description: 'The cost of this request.' })
  readonly cost!: number
}
