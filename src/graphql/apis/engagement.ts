import { engagementKinds, kinds, viewerFields } from '../../engagement/kinds.ts'
import { facetsMax } from '../../posts/facets.ts'
import type { Api } from '../api.ts'
import { loadedBy } from '../prices.ts'
import { engagementResolvers } from '../resolvers/engagement.resolver.ts'
import { engagementTypes } from '../types/engagement.ts'

const all = Object.values(kinds)
/** The same load as that of a post's text, because counts are stored in the post. */
const content = { name: 'content', commands: 1 }

export const engagementApi: Api = {
  resolvers: engagementResolvers,
  types: Object.values(engagementTypes).map(({ node }) => node),
  prices: {
    loads: {
      ...loadedBy(
        content,
        'Post',
        all.map(({ count }) => count.field),
      ),
      ...Object.assign(
        {},
        ...all.map(({ node }) => loadedBy(content, `${node.type}Connection`, ['totalCount'])),
      ),
      ...loadedBy({ name: 'engagement', commands: 2 }, 'Post', [...viewerFields.keys()]),
    },
    listSizes: { 'Comment.facets': facetsMax },
    pageCommands: {
      'User.likedPosts': 12,
      ...Object.fromEntries(engagementKinds.map((kind) => [`Post.${kind}`, 5])),
    },
  },
}
