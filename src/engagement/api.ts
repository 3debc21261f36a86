import type { Api } from '../graphql/api.ts'
import { postNodeId } from '../graphql/node-id.ts'
import { loadedBy } from '../graphql/prices.ts'
import { groupBy } from '../lib/batch.ts'
import { presentEngagements } from '../posts/api/present-posts.ts'
import { facetsMax } from '../posts/facets.ts'
import { engagementResolvers } from './api/engagement.resolver.ts'
import { engagementTypes } from './api/engagement-types.ts'
import { countFields, kinds, kindsWithPosts, publicKinds, viewerFields } from './kinds.ts'

/** The same load as that of a post's text, because counts are stored in the post. */
const content = { name: 'content', commands: 1 }

export const engagementApi = {
  resolvers: engagementResolvers,
  types: Object.values(engagementTypes).map(({ node }) => node),
  nodes: {
    Engagement: async (ctx, refs, selection) => {
      const entries = await Promise.all(
        [...groupBy(refs, ({ kind }) => kind)].map(([kind, some]) => {
          const posts = new Map(some.map(({ post }) => [postNodeId(post), post]))
          const keys = some.map(({ key }) => key)
          return ctx.services.engagementReader.entries([kind], [...posts.values()], keys)
        }),
      )
      return (await presentEngagements(ctx, entries.flat(), selection)).values()
    },
  },
  prices: {
    loads: {
      ...loadedBy(content, 'Post', [...countFields.keys()]),
      ...Object.assign(
        {},
        ...publicKinds.map((kind) =>
          loadedBy(content, `${kinds[kind].node.type}Connection`, ['totalCount']),
        ),
      ),
      ...loadedBy({ name: 'engagement', commands: 2 }, 'Post', [...viewerFields.keys()]),
    },
    listSizes: { 'Comment.facets': facetsMax },
    pageCommands: {
      ...Object.fromEntries(kindsWithPosts.map(({ of, field }) => [`${of}.${field}`, 12])),
      ...Object.fromEntries(publicKinds.map((kind) => [`Post.${kind}`, 6])),
    },
  },
} satisfies Api
