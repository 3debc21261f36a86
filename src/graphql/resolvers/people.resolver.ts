import type { GraphQLResolveInfo } from 'graphql'
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql'
import { badInput } from '../../errors.ts'
import type { FollowEdge } from '../../follows/edges.ts'
import { type Suggestion, suggestionsMax } from '../../follows/suggestions.ts'
import { type EdgeId, parseUserId } from '../../lib/ids.ts'
import { decodeOpaque, encodeOpaque } from '../../lib/opaque.ts'
import { ConnectionArgs, windowWith } from '../connection.ts'
import type { Context } from '../context.ts'
import { cursorOf, parseCursor } from '../node-id.ts'
import { presentUsers } from '../present-users.ts'
import { selectionOf } from '../selection.ts'
import { compareTexts, pageOfSorted } from '../sorted-list.ts'
import {
  MutualConnection,
  mutualsBounds,
  SuggestionConnection,
  suggestionsBounds,
} from '../types/people.ts'
import { User } from '../types/user.ts'
import { Viewer } from '../types/viewer.ts'

/** The followees that a user has in common with the viewer. Those of several users are read together. */
@Resolver(() => User)
export class MutualsResolver {
  @FieldResolver(() => MutualConnection, {
    description: `The followees that the viewer and the user have in common, the viewer's newest follow first. Only ${mutualsBounds} are compared. On the viewer's own user, these are the viewer's followees. Empty for an anonymous request, and if a block hides the user.`,
  })
  async mutuals(
    @Root() { handle }: User,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const window = windowWith(args, (...cursor) => parseCursor(...cursor) as EdgeId)
    const follows = await ctx.loaders.mutuals.load(handle)
    const { edges, pageInfo } = pageOfSorted(newestFirst(follows), window)
    const users = await presentUsers(
      ctx,
      edges.map(({ item }) => item.followee),
      selectionOf(info).of('edges', 'node'),
    )
    return {
      edges: edges.map(({ cursor, item }) => ({ cursor, node: users.get(item.followee) ?? null })),
      pageInfo,
      totalCount: follows.length,
    }
  }
}

/** The suggestions that only the viewer can see (law L6). */
@Resolver(() => Viewer)
export class SuggestionsResolver {
  @FieldResolver(() => SuggestionConnection, {
    description: `Users that the viewer's followees follow, at most ${suggestionsMax}: most common followees first, then by handle. Without the viewer, users that the viewer follows or muted, and users that a block hides. Only ${suggestionsBounds}, are counted.`,
  })
  async suggestions(
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const window = windowWith(args, parseSuggestionCursor)
    const suggestions = await ctx.loaders.suggestions.load(ctx.requireViewer())
    const { edges, pageInfo } = pageOfSorted(mostCommonFirst(suggestions), window)
    const users = await presentUsers(
      ctx,
      edges.map(({ item }) => item.user),
      selectionOf(info).of('edges', 'node'),
    )
    return {
      edges: edges.map(({ cursor, item: { user, commonCount } }) => ({
        cursor,
        node: users.get(user) ?? null,
        commonCount,
      })),
      pageInfo,
    }
  }
}

/** Follows in their order, with the cursors of all lists of follows. */
const newestFirst = (items: readonly FollowEdge[]) => ({
  items,
  placeOf: ({ id }: FollowEdge) => id,
  compare: (one: EdgeId, other: EdgeId) => compareTexts(other, one),
  cursorOf,
})

/** Suggestions in their order. A cursor holds the count and the handle, so it is valid after the suggestion is gone. */
const mostCommonFirst = (items: readonly Suggestion[]) => ({
  items,
  placeOf: (suggestion: Suggestion) => suggestion,
  compare: (one: Suggestion, other: Suggestion) =>
    other.commonCount - one.commonCount || compareTexts(one.user, other.user),
  cursorOf: ({ user, commonCount }: Suggestion) =>
    encodeOpaque(suggestionTag, String(commonCount), user),
})

const suggestionTag = 'Suggestion'

function parseSuggestionCursor(argument: string, text: string): Suggestion {
  const { tag, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  const [count = '', name = ''] = parts
  const user = parseUserId(name)
  if (tag !== suggestionTag || parts.length !== 2 || !user || !/^[1-9]\d{0,8}$/.test(count)) {
    throw badInput(argument, 'is not a cursor of this server')
  }
  return { user, commonCount: Number(count) }
}
