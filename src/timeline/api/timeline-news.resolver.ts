import type { GraphQLResolveInfo } from 'graphql'
import { Args, Ctx, Info, Query, Resolver } from 'type-graphql'
import type { Context } from '../../graphql/context.ts'
import { primeLoaders } from '../../graphql/loaders.ts'
import { selectionOf } from '../../graphql/selection.ts'
import { presentUsers } from '../../users/api/present-users.ts'
import { pollCursors } from './poll-cursors.ts'
import { newsRequestOf, TimelineNewsArgs } from './timeline-args.ts'
import { TimelineNews } from './timeline-types.ts'

/** The query of clients that poll the home timeline. */
@Resolver(() => TimelineNews)
export class TimelineNewsResolver {
  @Query(() => TimelineNews, {
    nullable: true,
    description:
      "What is new in the viewer's home timeline since a poll. Without changed, it reads only new posts.",
  })
  async timelineNews(
    @Args(() => TimelineNewsArgs) args: TimelineNewsArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const viewer = ctx.requireViewer()
    ctx.state?.throwFailure()
    const selection = selectionOf(info)
    const { feed, news: reader } = ctx.services
    const request = newsRequestOf(feed, args)
    const news = await reader.findNews(viewer, { ...request, changed: selection.has('changed') })
    ctx.state?.noteNews(news)
    primeLoaders(ctx.loaders, news.facts, request.group)
    const users = selection.has('authors')
      ? await presentUsers(ctx, news.authors, selection.of('authors'))
      : undefined
    return {
      ...news,
      authors: news.authors.flatMap((author) => users?.get(author) ?? []),
      pollCursor: pollCursors.encode(news.cursor),
    }
  }
}
