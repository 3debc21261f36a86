import type { GraphQLResolveInfo } from 'graphql'
import { Args, ArgsType, Ctx, Field, ID, Info, Query, Resolver } from 'type-graphql'
import { checkAll } from '../../errors.ts'
import { checkGroup } from '../../follows/groups.ts'
import type { Context } from '../../graphql/context.ts'
import { primeLoaders } from '../../graphql/loaders.ts'
import { parsePostNodeId } from '../../graphql/node-id.ts'
import { selectionOf } from '../../graphql/selection.ts'
import { presentTimelinePage, timelineNeedsOf } from '../../posts/api/present-posts.ts'
import { type Reason, reasonCodes } from '../pages/reasons.ts'
import { presentPollCursor, TimelineArgs, timelineWindowOf } from './timeline-args.ts'
import { TimelineConnection, TimelineReason } from './timeline-types.ts'

@ArgsType()
class WhyArgs {
  @Field(() => ID, { description: 'The global id of the post.' })
  readonly post!: string

  @Field(() => String, {
    nullable: true,
    description: "The viewer's group whose timeline is explained. Default: the home timeline.",
  })
  readonly group?: string | null
}

/** The queries of the home timeline and of the reasons for its posts. */
@Resolver(() => TimelineConnection)
export class TimelineResolver {
  @Query(() => TimelineConnection, {
    nullable: true,
    description:
      "The viewer's home timeline, newest first. To poll for new posts, use timelineNews. To read them, pass last, and the pollCursor as before.",
  })
  async timeline(
    @Args(() => TimelineArgs) args: TimelineArgs,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    ctx.requireViewer()
    ctx.state?.throwFailure()
    const filter = { strategy: args.strategy ?? undefined, group: args.group ?? undefined }
    const { window: place } = checkAll({
      window: () => timelineWindowOf(args),
      filter: () => ctx.services.feed.checkRequest(filter),
    })
    const { window, base } = place
    const { group } = filter
    const selection = selectionOf(info)
    const request = { window, ...filter, ...timelineNeedsOf(selection) }
    const page = await ctx.loaders.timeline.load(request)
    primeLoaders(ctx.loaders, page.facts, group)
    const presented = await presentTimelinePage(ctx, page, selection)
    const { strategy, servedBy, pending } = page
    return {
      ...presented,
      strategy,
      servedBy,
      pending,
      pollCursor: presentPollCursor(page, window, base),
    }
  }

  @Query(() => [TimelineReason], {
    nullable: true,
    description:
      "The reasons why the viewer's timeline shows a post, or null if the post does not belong there.",
  })
  async whyInTimeline(@Args(() => WhyArgs) args: WhyArgs, @Ctx() ctx: Context) {
    const { shown, reasons } = await explainPost(ctx, args)
    return shown ? reasons.map(presentReason) : null
  }

  @Query(() => [TimelineReason], {
    nullable: true,
    description:
      "All reasons why the viewer's timeline does not show a post, including a pending delivery. Null if there is no reason.",
  })
  async whyNotInTimeline(@Args(() => WhyArgs) args: WhyArgs, @Ctx() ctx: Context) {
    const { shown, reasons, pending } = await explainPost(ctx, args)
    if (!shown) return reasons.map(presentReason)
    return pending ? [presentReason({ code: 'DELIVERY_PENDING' })] : null
  }
}

async function explainPost(ctx: Context, args: WhyArgs) {
  const viewer = ctx.requireViewer()
  const { post, group } = checkAll({
    post: () => parsePostNodeId('post', args.post),
    group: () => (args.group == null ? undefined : checkGroup('group', args.group)),
  })
  return ctx.services.reasons.explainPost(viewer, post, group)
}

const presentReason = ({ code, since, groups }: Reason): TimelineReason => ({
  code,
  message: reasonCodes[code],
  since: since ?? null,
  groups: groups ?? [],
})
