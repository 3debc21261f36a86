import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Args, ArgsType, Ctx, Field, ID, Info, Query, Resolver } from 'type-graphql'
import type { FeedStrategyName } from '../../config.ts'
import { type Reason, reasonCodes } from '../../feed/reasons.ts'
import { ConnectionArgs, windowOf } from '../connection.ts'
import type { Context } from '../context.ts'
import { prime } from '../loaders.ts'
import { parsePostNodeId } from '../node-id.ts'
import { depthOf, presentPostPage } from '../present.ts'
import { selectionOf } from '../selection.ts'
import { FeedStrategyEnum } from '../types/common.ts'
import { Timeline, TimelineReason } from '../types/post.ts'

@ArgsType()
class WhyArgs {
  @Field(() => ID, { description: 'The global id of the post.' })
  readonly post!: string

  @Field(() => String, {
    nullable: true,
    description: "Asks about the timeline of this group of the viewer's.",
  })
  readonly group?: string | null
}

/** The home timeline, and why it holds what it does. */
@Resolver(() => Timeline)
export class TimelineResolver {
  @Query(() => Timeline, {
    nullable: true,
    description:
      "The viewer's home timeline, newest first. To poll, ask for what comes before the first cursor you hold.",
  })
  async timeline(
    @Args(() => ConnectionArgs) args: ConnectionArgs,
    @Arg('strategy', () => FeedStrategyEnum, {
      nullable: true,
      description:
        'How to assemble it. All strategies give the same; only the maintained ones are there to choose.',
    })
    strategy: FeedStrategyName | undefined,
    @Arg('group', () => String, {
      nullable: true,
      description: 'Only authors whom the viewer keeps in this group.',
    })
    group: string | undefined,
    @Ctx() ctx: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    const reader = ctx.requireViewer()
    const asked = selectionOf(info)
    const page = await ctx.services.feed.timeline(reader, {
      window: windowOf(args),
      strategy: strategy ?? undefined,
      group: group ?? undefined,
      depth: depthOf(asked.of('edges', 'node')),
      pending: asked.has('pending'),
    })
    prime(ctx.loaders, page.facts, group ?? undefined)
    const presented = await presentPostPage(ctx, page, asked)
    return { ...presented, strategy: page.strategy, servedBy: page.servedBy, pending: page.pending }
  }

  @Query(() => [TimelineReason], {
    nullable: true,
    description: "Why a post is in the viewer's timeline; null when it does not belong there.",
  })
  async whyInTimeline(@Args(() => WhyArgs) args: WhyArgs, @Ctx() ctx: Context) {
    const { shown, reasons } = await verdictOn(ctx, args)
    return shown ? reasons.map(present) : null
  }

  @Query(() => [TimelineReason], {
    nullable: true,
    description:
      "All that keeps a post out of the viewer's timeline, a delivery that is under way included; null when nothing does.",
  })
  async whyNotInTimeline(@Args(() => WhyArgs) args: WhyArgs, @Ctx() ctx: Context) {
    const { shown, reasons, pending } = await verdictOn(ctx, args)
    if (!shown) return reasons.map(present)
    return pending ? [present({ code: 'DELIVERY_PENDING' })] : null
  }
}

const verdictOn = async (ctx: Context, { post, group }: WhyArgs) =>
  ctx.services.reasons.of(ctx.requireViewer(), parsePostNodeId('post', post), group ?? undefined)

const present = ({ code, since, groups }: Reason): TimelineReason => ({
  code,
  message: reasonCodes[code],
  since: since ?? null,
  groups: groups ?? [],
})
