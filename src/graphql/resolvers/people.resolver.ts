import type { GraphQLResolveInfo } from 'graphql'
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql'
import { newestFollowFirst } from '../../follows/mutuals.ts'
import { mostCommonFirst, suggestionCursors, suggestionsMax } from '../../follows/suggestions.ts'
import type { EdgeId } from '../../lib/ids.ts'
import type { Window } from '../../lib/page.ts'
import { cutPage } from '../../pages/pipeline.ts'
import {
  ConnectionArgs,
  connectionFrom,
  connectionWith,
  windowOf,
  windowWith,
} from '../connection.ts'
import type { Context } from '../context.ts'
import { presentUsers } from '../present-users.ts'
import { selectionOf } from '../selection.ts'
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
    @Root() { account }: User,
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const window = windowOf(args) as Window<EdgeId>
    const follows = await ctx.loaders.mutuals.load(account)
    const page = cutPage(follows, newestFollowFirst, window)
    const users = await presentUsers(
      ctx,
      page.items.map(({ followee }) => followee),
      selectionOf(info).of('edges', 'node'),
    )
    return {
      ...connectionFrom(page, ({ followee }) => ({ node: users.get(followee) ?? null })),
      totalCount: follows.length,
    }
  }
}

/** The suggestions that only the viewer can see (law L6). */
@Resolver(() => Viewer)
export class SuggestionsResolver {
  @FieldResolver(() => SuggestionConnection, {
    description: `Users that the viewer's followees follow, at most ${suggestionsMax}: most common followees first, then by account. Without the viewer, users that the viewer follows or muted, and users that a block hides. Only ${suggestionsBounds}, are counted.`,
  })
  async suggestions(
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const window = windowWith(args, suggestionCursors.parse)
    const suggestions = await ctx.loaders.suggestions.load(ctx.requireViewer())
    const page = cutPage(suggestions, mostCommonFirst, window)
    const users = await presentUsers(
      ctx,
      page.items.map(({ user }) => user),
      selectionOf(info).of('edges', 'node'),
    )
    return connectionWith(
      page,
      ({ user, commonCount }) => ({ node: users.get(user) ?? null, commonCount }),
      mostCommonFirst.placeOf,
      suggestionCursors,
    )
  }
}
