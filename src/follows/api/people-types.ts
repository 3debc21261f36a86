import { Field, Int, ObjectType } from 'type-graphql'
import { connectionOf, edgeOf } from '../../graphql/types/common.ts'
import { User, UserEdge } from '../../users/api/user-type.ts'
import { mutualsAmongMax } from '../mutuals.ts'
import { sampledFollowsMax, sampleMax, suggestionsMax } from '../suggestions.ts'

const number = new Intl.NumberFormat('en')

/** The bounds of User.mutuals, for schema descriptions. */
export const mutualsBounds = `the viewer's newest ${number.format(mutualsAmongMax)} followees`

/** The bounds of Viewer.suggestions, for schema descriptions. */
export const suggestionsBounds = `the viewer's newest ${sampleMax} followees and ${number.format(sampledFollowsMax)} of their follows, an equal share of each, newest first`

@ObjectType({
  simpleResolvers: true,
  description: 'A page of the followees that the viewer and the user have in common.',
})
export class MutualConnection extends connectionOf(() => UserEdge) {
  @Field(() => Int, {
    description: `Number of users in the list. It counts only ${mutualsBounds}.`,
  })
  readonly totalCount!: number
}

@ObjectType({ simpleResolvers: true, description: 'A suggested user in a list.' })
export class SuggestionEdge extends edgeOf(() => User, 'The suggested user') {
  @Field(() => Int, {
    description: `Number of the viewer's followees who follow the suggested user. It counts only ${suggestionsBounds}.`,
  })
  readonly commonCount!: number
}

@ObjectType({
  simpleResolvers: true,
  description: `A page of suggested users. The list has at most ${suggestionsMax} users.`,
})
export class SuggestionConnection extends connectionOf(() => SuggestionEdge) {}
