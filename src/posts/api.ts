import { namesOf } from '../entities/leaves.ts'
import { postLeaves, postParts } from '../entities/post.ts'
import type { Api } from '../graphql/api.ts'
import { loadedBy } from '../graphql/prices.ts'
import { PostResolver } from './api/post.resolver.ts'
import { Post } from './api/post-type.ts'
import { facetsMax } from './facets.ts'

export const postsApi: Api = {
  resolvers: [PostResolver],
  types: [Post],
  prices: {
    loads: {
      ...loadedBy({ name: 'content', commands: 1 }, 'Post', [
        ...namesOf(postLeaves),
        ...namesOf(postParts),
      ]),
      ...loadedBy({ name: 'stats', commands: 1 }, 'PostConnection', ['totalCount']),
    },
    // Of the mentioned users, with what hides them.
    fieldCommands: { 'TextFacet.user': 6 },
    listSizes: { 'Post.facets': facetsMax },
  },
}
