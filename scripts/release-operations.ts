// The operations that scripts/record-release.ts sends to an earlier release, in the words of its schema.

const postConnection =
  'edges { cursor node { id text author { handle } } } pageInfo { hasNextPage }'
const userConnection = 'edges { cursor followedAt source node { handle } }'
const engagementConnection = (fields: string) =>
  `edges { cursor node { id createdAt user { handle } ${fields} } }`
export const queries = {
  timeline: `query($strategy: FeedStrategy!, $first: Int!, $group: String) { timeline(strategy: $strategy, first: $first, group: $group) { servedBy pending ${postConnection} } }`,
  user: `query($handle: String!) { user(handle: $handle) { id name bio createdAt viewerFollows followsViewer viewerHasMuted viewerHasBlocked viewerGroups stats { followers following posts } followers(first: 100) { ${userConnection} } following(first: 100) { ${userConnection} } posts(first: 100) { ${postConnection} } likedPosts(first: 100) { edges { cursor likedAt node { id } } } } }`,
  group: `query($handle: String!, $group: String!) { user(handle: $handle) { following(first: 100, group: $group) { ${userConnection} } } }`,
  viewer:
    'query { viewer { groups(first: 100) { edges { node { name } } } mutes(first: 100) { edges { cursor node { handle } } } blocks(first: 100) { edges { cursor node { handle } } } } }',
  post: `query($id: ID!) { node(id: $id) { ... on Post { id text createdAt likeCount commentCount shareCount viewerHasLiked viewerHasShared likes(first: 100) { ${engagementConnection('')} } comments(first: 100) { ${engagementConnection('text')} } shares(first: 100) { ${engagementConnection('')} } } } }`,
}
const mutationDocument = (name: string, input: string, fields: string) =>
  `mutation($input: ${input}!) { ${name}(input: $input) { ${fields} } }`
export const mutations = {
  createUser: mutationDocument('createUser', 'CreateUserInput', 'user { handle name }'),
  deleteUser: mutationDocument('deleteUser', 'DeleteUserInput', 'changed'),
  createPost: mutationDocument('createPost', 'CreatePostInput', 'post { id text }'),
  deletePost: mutationDocument('deletePost', 'DeletePostInput', 'changed'),
  followUser: mutationDocument('followUser', 'UserInput', 'changed'),
  unfollowUser: mutationDocument('unfollowUser', 'UserInput', 'changed'),
  muteUser: mutationDocument('muteUser', 'UserInput', 'changed'),
  blockUser: mutationDocument('blockUser', 'UserInput', 'changed'),
  setFollowGroups: mutationDocument('setFollowGroups', 'SetFollowGroupsInput', 'groups'),
  likePost: mutationDocument('likePost', 'PostInput', 'changed'),
  unlikePost: mutationDocument('unlikePost', 'PostInput', 'changed'),
  sharePost: mutationDocument('sharePost', 'PostInput', 'changed'),
  addComment: mutationDocument('addComment', 'AddCommentInput', 'comment { id text }'),
}

/** The name of a mutation. */
export type Mutation = keyof typeof mutations
/** The fields of a mutation's answer that this script reads. */
export interface MutationAnswer {
  readonly post?: { readonly id: string }
}
