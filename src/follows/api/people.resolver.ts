import type { GraphQLResolveInfo } from 'graphql'
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql'
import {
  ConnectionArgs,
  connectionFrom,
  connectionWith,
  windowOf,
  windowWith,
} from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { selectionOf } from '../../graphql/selection.ts'
import type { EdgeId } from '../../lib/ids.ts'
import type { Window } from '../../lib/page.ts'
import { cutPage } from '../../pages/pipeline.ts'
import { presentUsers } from '../../users/api/present-users.ts'
import { User } from '../../users/api/user-type.ts'
import { Viewer } from '../../users/api/viewer-type.ts'
import { newestFollowFirst } from '../mutuals.ts'
import { mostCommonFirst, suggestionCursors, suggestionsMax } from '../suggestions.ts'
import {
  MutualConnection,
  mutualsBounds,
  SuggestionConnection,
  suggestionsBounds,
} from './people-types.ts'

/**
 * The followees that a user has in common with the viewer. Those of several users are read
 * together.
 */
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
