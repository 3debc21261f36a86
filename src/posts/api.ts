import { namesOf } from '../entities/leaves.ts'
import { postLeaves, postParts } from '../entities/post.ts'
import type { Api } from '../graphql/api.ts'
import { loadedBy } from '../graphql/prices.ts'
import { PostResolver } from './api/post.resolver.ts'
import { Post } from './api/post-type.ts'
import { presentPosts } from './api/present-posts.ts'
import { facetsMax } from './facets.ts'

export const postsApi = {
  resolvers: [PostResolver],
  types: [Post],
  nodes: {
    Post: async (ctx, refs, selection) => {
      const posts = await Promise.all(refs.map(({ post }) => ctx.loaders.post.load(post)))
      const existing = posts.filter((post) => post !== null)
      return (await presentPosts(ctx, existing, selection)).values()
    },
  },
  prices: {
    loads: {
      ...loadedBy({ name: 'content', commands: 1 }, 'Post', [
        ...namesOf(postLeaves),
        ...namesOf(postParts),
      ]),
      ...loadedBy({ name: 'stats', commands: 1 }, 'PostConnection', ['totalCount']),
    },
    // Of the mentioned users, and of the post, with what hides them.
    fieldCommands: { 'TextFacet.user': 6, 'Query.post': 3 },
    listSizes: { 'Post.facets': facetsMax },
  },
} satisfies Api
