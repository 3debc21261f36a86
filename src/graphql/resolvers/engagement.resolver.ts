import type { GraphQLResolveInfo } from 'graphql'
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Resolver, Root } from 'type-graphql'
import type { IdempotencyKey } from '../../db/idempotency.ts'
import {
  type EngagementKind,
  engagementKinds,
  type KindKeyedBy,
  kinds,
  kindsKeyedBy,
} from '../../engagement/kinds.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import { ConnectionArgs, connectionFrom, windowOf } from '../connection.ts'
import type { Context } from '../context.ts'
import { schemaNames } from '../engagement-names.ts'
import {
  type AddEngagementInput,
  addInputOf,
  PostInput,
  type RemoveEngagementInput,
  removeInputOf,
} from '../inputs.ts'
import { mutate } from '../mutate.ts'
import { parseEntryNodeId, parsePostNodeId } from '../node-id.ts'
import { addPayloadOf, PostMarkPayload, removePayloadOf } from '../payloads.ts'
import { presentEngagements, presentPostRefs } from '../present.ts'
import { selectionOf } from '../selection.ts'
import { engagementTypes } from '../types/engagement.ts'
import { Post } from '../types/post.ts'

const inputOptions = { description: 'The input of the mutation.' }

/** The resolver of a kind's list, a field of Post. */
function listResolverOf(kind: EngagementKind) {
  const { description } = kinds[kind].list

  @Resolver(() => Post)
  class ListResolver {
    @FieldResolver(() => engagementTypes[kind].connection, { description })
    async [kind](
      @Root() { ref }: Post,
      @Args(() => ConnectionArgs) args: ConnectionArgs,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const key = { owner: ref, window: windowOf(args), more: kind }
      const page = await ctx.loaders.engagements.load(key)
      const selection = selectionOf(info).of('edges', 'node')
      const nodes = await presentEngagements(ctx, page.items, selection)
      return connectionFrom(page, (item) => ({ node: nodes.get(item) ?? null }))
    }
  }
  return ListResolver
}

/** The mutations of a kind whose key is the actor: they add and remove the viewer's only entry. */
function ownEntryMutationsOf(kind: KindKeyedBy<'actor'>) {
  const { add, remove } = kinds[kind]
  const Input = addInputOf(kind)

  @Resolver()
  class OwnEntryResolver {
    @Mutation(() => PostMarkPayload, {
      name: add.mutation,
      nullable: true,
      description: add.description,
    })
    async add(
      @Arg('input', () => Input, inputOptions) given: AddEngagementInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      return changeEntry(ctx, info, given, (viewer, post, idempotencyKey) =>
        ctx.services.engagements.add(kind, viewer, post, { text: given.text, idempotencyKey }),
      )
    }

    @Mutation(() => PostMarkPayload, {
      name: remove.mutation,
      nullable: true,
      description: remove.description,
    })
    async remove(
      @Arg('input', () => PostInput, inputOptions) given: PostInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      return changeEntry(ctx, info, given, (viewer, post, idempotencyKey) =>
        ctx.services.engagements.remove(kind, viewer, post, idempotencyKey),
      )
    }
  }
  return OwnEntryResolver
}

/** The mutations of a kind whose key is the entry's id: each add creates a new entry. */
function entryMutationsOf(kind: KindKeyedBy<'_id'>) {
  const { add, remove } = kinds[kind]
  const names = schemaNames(kind)
  const [AddInput, AddPayload] = [addInputOf(kind), addPayloadOf(kind)]
  const [RemoveInput, RemovePayload] = [removeInputOf(kind), removePayloadOf(kind)]

  @Resolver()
  class EntryResolver {
    @Mutation(() => AddPayload, {
      name: add.mutation,
      nullable: true,
      description: add.description,
    })
    async add(
      @Arg('input', () => AddInput, inputOptions) given: AddEngagementInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const post = parsePostNodeId('input.postId', given.postId)
      const { entry, clientMutationId } = await mutate(
        ctx,
        info.fieldName,
        given,
        (viewer, idempotencyKey) =>
          ctx.services.engagements.add(kind, viewer, post, { text: given.text, idempotencyKey }),
      )
      const presented = await presentEngagements(ctx, [entry], selectionOf(info).of(names.entry))
      return { clientMutationId, [names.entry]: presented.get(entry) }
    }

    @Mutation(() => RemovePayload, {
      name: remove.mutation,
      nullable: true,
      description: remove.description,
    })
    async remove(
      @Arg('input', () => RemoveInput, inputOptions) given: RemoveEngagementInput,
      @Ctx() ctx: Context,
      @Info() info: GraphQLResolveInfo,
    ) {
      const globalId = given[names.entryId] as string
      const entry = parseEntryNodeId(`input.${names.entryId}`, globalId, kind)
      const result = await mutate(ctx, info.fieldName, given, async (viewer, idempotencyKey) => {
        const { changed } = await ctx.services.engagements.removeById(entry, viewer, idempotencyKey)
        return { changed, [names.deletedId]: globalId }
      })
      return { ...result, post: await presentPost(ctx, entry.post, info) }
    }
  }
  return EntryResolver
}

/** The lists of all kinds, and the mutations that change them. */
export const engagementResolvers = [
  ...engagementKinds.map(listResolverOf),
  ...kindsKeyedBy('actor').map(ownEntryMutationsOf),
  ...kindsKeyedBy('_id').map(entryMutationsOf),
]

async function changeEntry(
  ctx: Context,
  info: GraphQLResolveInfo,
  given: PostInput,
  run: (
    viewer: UserId,
    post: PostRef,
    idempotencyKey: IdempotencyKey | undefined,
  ) => Promise<{ readonly changed: boolean }>,
) {
  const post = parsePostNodeId('input.postId', given.postId)
  const result = await mutate(ctx, info.fieldName, given, async (viewer, idempotencyKey) => ({
    changed: (await run(viewer, post, idempotencyKey)).changed,
  }))
  return { ...result, post: await presentPost(ctx, post, info) }
}

async function presentPost(ctx: Context, post: PostRef, info: GraphQLResolveInfo) {
  const selection = selectionOf(info).of('post')
  return selection.any ? ((await presentPostRefs(ctx, [post], selection)).get(post) ?? null) : null
}
