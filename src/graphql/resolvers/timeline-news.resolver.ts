import type { GraphQLResolveInfo } from 'graphql'
import { Args, ArgsType, Ctx, Field, Info, Query, Resolver } from 'type-graphql'
import { checkAll } from '../../errors.ts'
import type { FeedStrategyName } from '../../feed/strategies/list.ts'
import type { Context } from '../context.ts'
import { primeLoaders } from '../loaders.ts'
import { pollCursors } from '../poll-cursor.ts'
import { presentUsers } from '../present-users.ts'
import { selectionOf } from '../selection.ts'
import { FeedStrategyEnum } from '../types/common.ts'
import { TimelineNews } from '../types/post.ts'

@ArgsType()
class TimelineNewsArgs {
  @Field(() => String, {
    description: 'The pollCursor of the last answer, by timeline or timelineNews.',
  })
  readonly since!: string

  @Field(() => FeedStrategyEnum, {
    nullable: true,
    description: 'The strategy that assembles the timeline, as for timeline.',
  })
  readonly strategy?: FeedStrategyName | null

  @Field(() => String, {
    nullable: true,
    description: "The viewer's group whose timeline is polled, as for timeline.",
  })
  readonly group?: string | null
}

/** The query of clients that poll the home timeline. */
@Resolver(() => TimelineNews)
export class TimelineNewsResolver {
  @Query(() => TimelineNews, {
    nullable: true,
    description:
      "What is new in the viewer's home timeline since a poll. Without changed, it reads only new posts.",
  })
  async timelineNews(
    @Args(() => TimelineNewsArgs) { since, strategy, group }: TimelineNewsArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const viewer = ctx.requireViewer()
    const selection = selectionOf(info)
    const filter = { strategy: strategy ?? undefined, group: group ?? undefined }
    const { since: cursor } = checkAll({
      since: () => pollCursors.parse('since', since),
      filter: () => ctx.services.feed.checkRequest(filter),
    })
    const request = { ...filter, since: cursor, changed: selection.has('changed') }
    const news = await ctx.services.news.findNews(viewer, request)
    if (ctx.state && (news.changed || news.count > 0)) ctx.state.isNews = true
    primeLoaders(ctx.loaders, news.facts, group ?? undefined)
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
