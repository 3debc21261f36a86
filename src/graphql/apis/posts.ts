import { facetsMax } from '../../posts/facets.ts'
import type { Api } from '../api.ts'
import { loadedBy } from '../prices.ts'
import { PostResolver } from '../resolvers/post.resolver.ts'
import { Post } from '../types/post.ts'

export const postsApi: Api = {
  resolvers: [PostResolver],
  types: [Post],
  prices: {
    loads: {
      ...loadedBy({ name: 'content', commands: 1 }, 'Post', ['text', 'facets', 'attachments']),
      ...loadedBy({ name: 'stats', commands: 1 }, 'PostConnection', ['totalCount']),
    },
    // Of the mentioned users, with what hides them.
    fieldCommands: { 'TextFacet.user': 6 },
    listSizes: { 'Post.facets': facetsMax },
  },
}
