import { engagementKinds, kinds, viewerFields } from '../engagement/kinds.ts'
import { newsAuthorsMax } from '../feed/timeline/news.ts'
import { facetsMax } from '../posts/facets.ts'
import { optionalFields } from '../users/users.ts'

/** What one value of a response costs. All other prices are multiples of it. */
export const valuePrice = 1

/**
 * What a value costs that is a few bytes of a text, which is priced as well: the fields of a facet but its user. A page
 * of 100 posts with ten facets each would otherwise cost more than a request may.
 */
export const facetValuePrice = 0.2
export const facetValues: ReadonlySet<string> = new Set(
  ['__typename', 'start', 'end', 'kind', 'handle', 'tag', 'url'].map(
    (field) => `TextFacet.${field}`,
  ),
)

/** What a MongoDB command costs. It takes about as long as twenty values. */
export const commandPrice = 20

/** What FANOUT_ON_READ costs for each further {@link followeesPerPrice} followees: a command that merges 200 lists. */
export const fanoutPrice = 100

/** The number of followees whose posts one command of FANOUT_ON_READ merges. */
export const followeesPerPrice = 200

/**
 * How often one timeline fans out on read at most: to create a cache, for the page, and for its refill. The price of an
 * operation with one timeline leaves out their commands for further followees.
 */
export const fanOutsOfTimeline = 3

/** The fields of User that are read from the account. */
export const profileFields = ['name', ...optionalFields, 'createdAt'] as const

/**
 * The loads of objects, by type and field. A load is batched, so it costs its commands once for each selection set, for
 * any number of objects and of its fields.
 */
export const loads: Readonly<Record<string, Load>> = {
  // The account, and the blocks that hide it.
  ...loadedBy({ name: 'profile', commands: 2 }, 'User', profileFields),
  ...loadedBy({ name: 'stats', commands: 2 }, 'User', [
    'followerCount',
    'followingCount',
    'postCount',
  ]),
  ...loadedBy({ name: 'viewerFollows', commands: 1 }, 'User', ['viewerFollows']),
  ...loadedBy({ name: 'followsViewer', commands: 1 }, 'User', ['followsViewer']),
  ...loadedBy({ name: 'viewerGroups', commands: 1 }, 'User', ['viewerGroups']),
  ...loadedBy({ name: 'restrictions', commands: 1 }, 'User', [
    'viewerCanFollow',
    'viewerHasMuted',
    'viewerHasBlocked',
  ]),
  ...loadedBy({ name: 'content', commands: 1 }, 'Post', [
    'text',
    'facets',
    'attachments',
    ...Object.values(kinds).map(({ count }) => count.field),
  ]),
  ...loadedBy({ name: 'stats', commands: 1 }, 'FollowConnection', ['totalCount']),
  ...loadedBy({ name: 'stats', commands: 1 }, 'PostConnection', ['totalCount']),
  ...Object.assign(
    {},
    ...Object.values(kinds).map(({ node }) =>
      loadedBy({ name: 'content', commands: 1 }, `${node.type}Connection`, ['totalCount']),
    ),
  ),
  ...loadedBy({ name: 'engagement', commands: 2 }, 'Post', [...viewerFields.keys()]),
}

/**
 * What decides whether an object exists. Other loads answer it as well, by their names: the
 * profile or the counters of an account.
 */
export const existence: Readonly<Record<string, { load: Load; others: readonly string[] }>> = {
  User: { load: { name: 'live', commands: 1 }, others: ['profile', 'stats'] },
}

/** What several fields of an object need. */
export interface Load {
  readonly name: string
  readonly commands: number
}

function loadedBy(load: Load, type: string, fields: readonly string[]): Record<string, Load> {
  return Object.fromEntries(fields.map((field) => [`${type}.${field}`, load]))
}

/**
 * The commands of fields that send their own, beyond the loads of the objects that they return.
 */
export const fieldCommands: Readonly<Record<string, number>> = {
  // The objects of each type, and the blocks that hide them.
  'Query.node': 10,
  'Query.nodes': 10,
  'Query.post': 3,
  // The follows that a block ends, beyond those of any mutation.
  'Mutation.blockUser': 3,
  'Query.whyInTimeline': 6,
  'Query.whyNotInTimeline': 6,
  // The watermark, a page, and versions.
  'Query.timelineNews': 26,
  'TimelineConnection.pending': 2,
  'TimelineConnection.pollCursor': 2,
}

/**
 * What a field costs for each object beyond its commands, because they examine more index keys, or
 * have larger replies of MongoDB, than they return items.
 */
export const fieldPrices: Readonly<Record<string, number>> = {
  // Up to 1,000 keys for each user, and as many handles of up to 64 characters, in one reply of at most 16 MB.
  'User.mutuals': 80,
  // Up to 25,000 keys.
  'Viewer.suggestions': 700,
}

/** The most items of lists that have no page size. */
export const listSizes: Readonly<Record<string, number>> = {
  'Post.facets': facetsMax,
  'Comment.facets': facetsMax,
  'TimelineNews.authors': newsAuthorsMax,
}

/** The commands of a mutation: those of its transaction. */
export const mutationCommands = 13

/**
 * The commands of a timeline's page for versions: those of the kept answer, of the reader, and of the authors in two
 * rounds, each of which may be missing.
 */
export const versionCommands = 12

/**
 * The commands of a page of each list, with the blocks that hide its owner and its items. The probe of one side, which `pageInfo` may need, costs as many.
 */
export const pageCommands: Readonly<Record<string, number>> = {
  // With the creation of a cache, three rounds of stored entries and facts, and a refill by fan-out on read.
  'Query.timeline': 13,
  'User.followers': 3,
  'User.following': 3,
  'User.posts': 3,
  'User.likedPosts': 12,
  'User.mutuals': 3,
  'Viewer.mutes': 1,
  'Viewer.blocks': 1,
  'Viewer.groups': 1,
  'Viewer.suggestions': 5,
  ...Object.fromEntries(engagementKinds.map((kind) => [`Post.${kind}`, 5])),
}
