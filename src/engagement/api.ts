import type { Api } from '../graphql/api.ts'
import { loadedBy } from '../graphql/prices.ts'
import { facetsMax } from '../posts/facets.ts'
import { engagementResolvers } from './api/engagement.resolver.ts'
import { engagementTypes } from './api/engagement-types.ts'
import { countFields, kinds, publicKinds, viewerFields } from './kinds.ts'

/** The same load as that of a post's text, because counts are stored in the post. */
const content = { name: 'content', commands: 1 }

export const engagementApi: Api = {
  resolvers: engagementResolvers,
  types: Object.values(engagementTypes).map(({ node }) => node),
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
      'User.likedPosts': 12,
      ...Object.fromEntries(publicKinds.map((kind) => [`Post.${kind}`, 6])),
    },
  },
}
