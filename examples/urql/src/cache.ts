import type * as documents from '@feedline/client'
import type * as schema from '@feedline/client/schema'
import * as graphcache from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'

type Cache = graphcache.Cache

/** What vite.config.ts reads from the emitted schema. */
declare const FEEDLINE_SCHEMA: NonNullable<graphcache.CacheExchangeOpts['schema']>

/** The pages of a list, in the order in which they were read. */
const pagesOf = (cache: Cache, parent: graphcache.Entity, fieldName: string) =>
  cache
    .inspectFields(parent)
    .filter((field) => field.fieldName === fieldName)
    .flatMap(({ fieldKey, arguments: args }) => {
      const page = cache.resolve(parent, fieldKey)
      return typeof page === 'string' ? [{ page, fieldKey, args: args ?? {} }] : []
    })

/** Who needs the pages reads them again. */
const dropPages = (cache: Cache, parent: graphcache.Entity, fieldName: string) => {
  for (const { fieldKey } of pagesOf(cache, parent, fieldName)) cache.invalidate(parent, fieldKey)
}

const edgesOf = (cache: Cache, page: string) => cache.resolve(page, 'edges') as string[]

const endCursorOf = (cache: Cache, page: string) =>
  cache.resolve(cache.resolve(page, 'pageInfo') as string, 'endCursor')

/** Removes an object from every page of a list. */
function removeNode(cache: Cache, parent: graphcache.Entity, list: string, node: string): void {
  for (const { page } of pagesOf(cache, parent, list)) {
    const edges = edgesOf(cache, page).filter((edge) => cache.resolve(edge, 'node') !== node)
    cache.link(page, 'edges', edges)
  }
}

const mergePages = relayPagination({ mergeMode: 'outwards' })

/** New posts before a pollCursor go on top, pages after a cursor below. The last pollCursor covers all posts held. */
const timeline: graphcache.Resolver = (parent, args, cache, info) => {
  const merged = mergePages(parent, args, cache, info)
  if (typeof merged !== 'object' || merged === null) return merged
  const cursors = pagesOf(cache, 'Query', 'timeline')
    .filter((held) => held.args.group === args.group)
    .map(({ page }) => cache.resolve(page, 'pollCursor') as string | null)
  return { ...merged, pollCursor: cursors.findLast(Boolean) ?? null } as graphcache.DataFields
}

/**
 * A first page that is read again replaces all pages of its list. A next page that was asked for before, and is answered
 * after that, would leave a gap, so it is dropped.
 */
const replacePages: graphcache.UpdateResolver = (_result, args, cache, info) => {
  const pages = pagesOf(cache, info.parentKey, info.fieldName).filter(
    (held) => held.args.group === args.group,
  )
  const isNext = pages.some(({ page }) => endCursorOf(cache, page) === args.after)
  if (args.before || (args.after && isNext)) return
  for (const { fieldKey, args: held } of pages) {
    const isOutdated = args.after ? held.after === args.after : held.after || held.before
    if (isOutdated) cache.invalidate(info.parentKey, fieldKey)
  }
}

const setLiked =
  (viewerHasLiked: boolean) =>
  ({ input }: { input: schema.LikePostInput }, cache: Cache) => {
    const post = { __typename: 'Post', id: input.postId }
    const likeCount = Number(cache.resolve(post, 'likeCount')) + (viewerHasLiked ? 1 : -1)
    const __typename = viewerHasLiked ? 'LikePostPayload' : 'UnlikePostPayload'
    return { __typename, post: { ...post, likeCount, viewerHasLiked } }
  }

const setFollowed =
  (viewerFollows: boolean) =>
  ({ input }: { input: schema.FollowUserInput }, cache: Cache) => {
    const user = { __typename: 'User', id: input.user.id ?? '' }
    // A suggested user has no numbers in the cache.
    const held = cache.resolve(user, 'followerCount')
    const followerCount = typeof held === 'number' ? held + (viewerFollows ? 1 : -1) : undefined
    const viewerGroups = viewerFollows ? cache.resolve(user, 'viewerGroups') : []
    const __typename = viewerFollows ? 'FollowUserPayload' : 'UnfollowUserPayload'
    return { __typename, user: { ...user, followerCount, viewerFollows, viewerGroups } }
  }

const createPost = (result: documents.PublishPostMutation, _args: unknown, cache: Cache) => {
  const { timelineEdge, viewer } = result.createPost ?? {}
  if (!timelineEdge?.node) return
  const edge = `TimelineEdge:${timelineEdge.cursor}`
  const pages = pagesOf(cache, 'Query', 'timeline').filter(({ args }) => !args.group && !args.after)
  // A page that was read while the answer was on its way has the post already.
  const isHeld = pages.some(({ page }) => edgesOf(cache, page).includes(edge))
  const top = pages.findLast(({ args }) => args.before) ?? pages[0]
  if (top && !isHeld) cache.link(top.page, 'edges', [edge, ...edgesOf(cache, top.page)])
  dropPages(cache, `User:${viewer?.user?.id}`, 'posts')
}

const deletePost = (result: documents.DeletePostMutation, _args: unknown, cache: Cache) => {
  const { deletedPostId = '', viewer } = result.deletePost ?? {}
  removeNode(cache, 'Query', 'timeline', `Post:${deletedPostId}`)
  removeNode(cache, `User:${viewer?.user?.id}`, 'posts', `Post:${deletedPostId}`)
  cache.link('Query', 'post', { id: deletedPostId }, null)
  cache.invalidate({ __typename: 'Post', id: deletedPostId })
}

const addComment = (result: documents.WriteCommentMutation, _args: unknown, cache: Cache) => {
  const { commentEdge, post } = result.addComment ?? {}
  if (!commentEdge) return
  const [first] = pagesOf(cache, `Post:${post?.id}`, 'comments')
  const edge = `CommentEdge:${commentEdge.cursor}`
  if (first) cache.link(first.page, 'edges', [edge, ...edgesOf(cache, first.page)])
}

const deleteComment = (result: documents.DeleteCommentMutation, _args: unknown, cache: Cache) => {
  const { deletedCommentId, post } = result.deleteComment ?? {}
  removeNode(cache, `Post:${post?.id}`, 'comments', `Comment:${deletedCommentId}`)
}

/** Only an answer drops the lists, because the server would not know the follow yet. */
const reloadLists: graphcache.UpdateResolver = (result, _args, cache, info) => {
  if (info.optimistic) return
  dropPages(cache, 'Query', 'timeline')
  const { user, viewer } = (result as documents.AddFollowMutation).result ?? {}
  dropPages(cache, `User:${user?.id}`, 'followers')
  dropPages(cache, `User:${viewer?.user?.id}`, 'following')
}

const reloadLikes: graphcache.UpdateResolver = (_result, { input }, cache, info) => {
  if (!info.optimistic) dropPages(cache, `Post:${(input as schema.LikePostInput).postId}`, 'likes')
}

/** All that is shown is read again. A block changes every list, and a new account what the viewer sees of it. */
const reloadAll = (_result: unknown, _args: unknown, cache: Cache) => {
  for (const { fieldKey } of cache.inspectFields('Query')) cache.invalidate('Query', fieldKey)
}

/** Each viewer has a cache of their own. */
export const createCache = () =>
  graphcache.cacheExchange({
    schema: FEEDLINE_SCHEMA,
    keys: {
      // Edges have the keys of their cursors, so that updates can link them.
      TimelineEdge: (edge) => edge.cursor as string,
      CommentEdge: (edge) => edge.cursor as string,
      FollowGroup: (group) => group.name as string,
      Attachment: () => null,
      TextFacet: () => null,
    },
    resolvers: {
      Query: { timeline },
      User: {
        posts: relayPagination(),
        followers: relayPagination(),
        following: relayPagination(),
      },
      Post: { comments: relayPagination(), likes: relayPagination() },
    },
    optimistic: {
      likePost: setLiked(true),
      unlikePost: setLiked(false),
      followUser: setFollowed(true),
      unfollowUser: setFollowed(false),
    },
    updates: {
      Query: { timeline: replacePages },
      User: { posts: replacePages, followers: replacePages, following: replacePages },
      Post: { comments: replacePages, likes: replacePages },
      Mutation: {
        createUser: reloadAll,
        createPost,
        deletePost,
        addComment,
        deleteComment,
        likePost: reloadLikes,
        unlikePost: reloadLikes,
        followUser: reloadLists,
        unfollowUser: reloadLists,
        blockUser: reloadAll,
        unblockUser: reloadAll,
        setFollowGroups: (_result, _args, cache) => {
          dropPages(cache, cache.resolve('Query', 'viewer') as string, 'groups')
          dropPages(cache, 'Query', 'timeline')
        },
      },
    },
  })
