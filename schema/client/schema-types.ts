export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** A UTC timestamp in ISO 8601 format, such as 2007-12-03T10:15:30.000Z. */
  DateTime: { input: string; output: string; }
};

/** Input of addComment. */
export type AddCommentInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the post. */
  postId: Scalars['ID']['input'];
  /** The text of the comment, at most 300 characters and 3,000 bytes. */
  text: Scalars['String']['input'];
};

/** Result of addComment. */
export type AddCommentPayload = {
  __typename?: 'AddCommentPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The new comment. Null for a repeat after the comment was deleted. */
  comment?: Maybe<Comment>;
  /** The edge of the comment in the list of the post, so that a client can insert it there. Null for a repeat after the comment was deleted. */
  commentEdge?: Maybe<CommentEdge>;
  /** The post after the mutation, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
};

/** An attachment of a post. */
export type Attachment = {
  __typename?: 'Attachment';
  /** Alternative text of the attachment. */
  alt?: Maybe<Scalars['String']['output']>;
  /** The BlurHash, from which a client draws a preview while the attachment loads. */
  blurhash?: Maybe<Scalars['String']['output']>;
  /** The height in pixels, if its author gave it. */
  height?: Maybe<Scalars['Int']['output']>;
  /** The kind of content at the URL. */
  kind: AttachmentKind;
  /** The http or https URL of the attachment. */
  url: Scalars['String']['output'];
  /** The width in pixels, if its author gave it. */
  width?: Maybe<Scalars['Int']['output']>;
};

/** An attachment of a new post. */
export type AttachmentInput = {
  /** Alternative text of the attachment, at most 2,000 characters. */
  alt?: InputMaybe<Scalars['String']['input']>;
  /** The BlurHash of the image or video, 6 to 166 characters, for a preview while it loads. */
  blurhash?: InputMaybe<Scalars['String']['input']>;
  /** The height of the image or video in pixels, 1 to 65,535. */
  height?: InputMaybe<Scalars['Int']['input']>;
  /** The kind of content at the URL. */
  kind: AttachmentKind;
  /** An http or https URL of at most 2,048 characters. */
  url: Scalars['String']['input'];
  /** The width of the image or video in pixels, 1 to 65,535. */
  width?: InputMaybe<Scalars['Int']['input']>;
};

/** The kind of content at the URL of an attachment. */
export type AttachmentKind =
  /** An image. */
  | 'IMAGE'
  /** A web page. */
  | 'LINK'
  /** A video. */
  | 'VIDEO';

/** Input of blockUser. */
export type BlockUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of blockUser. */
export type BlockUserPayload = {
  __typename?: 'BlockUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** A comment on a post. */
export type Comment = Node & {
  __typename?: 'Comment';
  /** When the comment was created, with millisecond precision. */
  createdAt: Scalars['DateTime']['output'];
  /** The mentions, hashtags and links in the text of the comment, in its order, at most 10. */
  facets: Array<TextFacet>;
  /** The global id of the comment. */
  id: Scalars['ID']['output'];
  /** The post of the comment, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
  /** The text of the comment, at most 300 characters and 3,000 bytes, in Unicode NFC. */
  text: Scalars['String']['output'];
  /** The author of the comment, or null if the author has no account. */
  user?: Maybe<User>;
  /** Whether the viewer may delete the comment: its author and the author of the post may. False for an anonymous request. */
  viewerCanDelete: Scalars['Boolean']['output'];
};

/** A page of the comments on a post. */
export type CommentConnection = {
  __typename?: 'CommentConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<CommentEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Number of all comments of the post, including those of users that a block hides. */
  totalCount?: Maybe<Scalars['Int']['output']>;
};

/** A comment in a list. */
export type CommentEdge = {
  __typename?: 'CommentEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The comment, or null if it was deleted while this page was being read. */
  node?: Maybe<Comment>;
};

/** Input of createPost. */
export type CreatePostInput = {
  /** The attachments of the post, at most four. */
  attachments?: InputMaybe<Array<AttachmentInput>>;
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The text of the post, at most 300 characters and 3,000 bytes. It may be empty if the post has an attachment. */
  text: Scalars['String']['input'];
};

/** Result of createPost. */
export type CreatePostPayload = {
  __typename?: 'CreatePostPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The new post. Null for a repeat after the post was deleted. */
  post?: Maybe<Post>;
  /** The edge of the new post in the viewer's home timeline, so that a client can insert it there. Its place is the first, unless others posted at the same time. Null for a repeat after the post was deleted. */
  timelineEdge?: Maybe<TimelineEdge>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of createUser. */
export type CreateUserInput = {
  /** The picture of the user, an http or https URL of at most 2,048 characters. */
  avatarUrl?: InputMaybe<Scalars['String']['input']>;
  /** The wide picture above the profile, an http or https URL of at most 2,048 characters. */
  bannerUrl?: InputMaybe<Scalars['String']['input']>;
  /** A short text about the user, at most 256 characters. */
  bio?: InputMaybe<Scalars['String']['input']>;
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The handle of the user: 1 to 64 lowercase letters, digits, ".", "_" or "-", with a letter or digit first and last. Any case and a leading "@" are accepted. Default: the subject of the token, if that is a handle. */
  handle?: InputMaybe<Scalars['String']['input']>;
  /** The display name of the user, 1 to 64 characters. Invisible characters and reserved names are refused. */
  name: Scalars['String']['input'];
};

/** Result of createUser. */
export type CreateUserPayload = {
  __typename?: 'CreateUserPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The viewer's account. Null for a repeat after the account was deleted. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of createUsers. */
export type CreateUsersInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The users, at most 100, with distinct subjects and handles. */
  users: Array<NewUser>;
};

/** Result of createUsers. */
export type CreateUsersPayload = {
  __typename?: 'CreateUsersPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** A result for each user, in order. */
  results: Array<CreateUsersResult>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** What createUsers did for one of its users. */
export type CreateUsersResult = {
  __typename?: 'CreateUsersResult';
  /** Whether the mutation created the account. False if the subject had one before. */
  created: Scalars['Boolean']['output'];
  /** Why the user was refused, or null. */
  error?: Maybe<Refusal>;
  /** The subject of the input. */
  subject: Scalars['String']['output'];
  /** The account of the subject. */
  user?: Maybe<User>;
};

/** Input of deleteComment. */
export type DeleteCommentInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the comment. */
  commentId: Scalars['ID']['input'];
};

/** Result of deleteComment. */
export type DeleteCommentPayload = {
  __typename?: 'DeleteCommentPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The global id of the deleted comment. */
  deletedCommentId: Scalars['ID']['output'];
  /** The post after the mutation, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
};

/** Input of deletePost. */
export type DeletePostInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the post. */
  postId: Scalars['ID']['input'];
};

/** Result of deletePost. */
export type DeletePostPayload = {
  __typename?: 'DeletePostPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The global id of the deleted post. */
  deletedPostId: Scalars['ID']['output'];
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of deleteUser. */
export type DeleteUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
};

/** Result of deleteUser. */
export type DeleteUserPayload = {
  __typename?: 'DeleteUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The handle of the deleted account, or null if there is no account. It becomes available when all data of the account is deleted, after 24 seconds at the earliest. */
  handle?: Maybe<Scalars['String']['output']>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Origin of a follow. */
export type EdgeSource =
  /** Imported from Facebook. */
  | 'FACEBOOK'
  /** Created in Feedline. */
  | 'FEEDLINE'
  /** Imported from an edge list file. */
  | 'IMPORT'
  /** Imported from Medium. */
  | 'MEDIUM'
  /** Imported from Twitter. */
  | 'TWITTER';

/** The values of `extensions.code` in an error. */
export type ErrorCode =
  /** The HTTP request is not a GraphQL request, or another site could forge it. */
  | 'BAD_REQUEST'
  /** Arguments are invalid. `argument` names the first, and `arguments` lists all with a message each. Nothing was changed. */
  | 'BAD_USER_INPUT'
  /** The request conflicts with stored data, such as a taken handle or a clientMutationId used for another input. */
  | 'CONFLICT'
  /** The viewer is not allowed to do this. */
  | 'FORBIDDEN'
  /** The document is not valid GraphQL. */
  | 'GRAPHQL_PARSE_FAILED'
  /** The document does not match the schema. */
  | 'GRAPHQL_VALIDATION_FAILED'
  /** The server failed. `requestId` identifies the failure in the server log. */
  | 'INTERNAL_SERVER_ERROR'
  /** The document or the account exceeds a limit. `limit` names it. Nothing was changed. */
  | 'LIMIT_EXCEEDED'
  /** The requested object does not exist, or the viewer may not see it. */
  | 'NOT_FOUND'
  /** The document does not contain the requested operation. */
  | 'OPERATION_RESOLUTION_FAILURE'
  /** The request body exceeds the size limit. */
  | 'PAYLOAD_TOO_LARGE'
  /** The hash is not the SHA-256 of the document. */
  | 'PERSISTED_QUERY_HASH_MISMATCH'
  /** The server has no document with this hash. Send the document together with its hash. */
  | 'PERSISTED_QUERY_NOT_FOUND'
  /** The document is not one of the trusted documents of this server. */
  | 'PERSISTED_QUERY_NOT_IN_LIST'
  /** The client has used up its rate limit. Try again after `retryAfterSeconds`, as in the header Retry-After. */
  | 'RATE_LIMITED'
  /** The request needs a valid token. */
  | 'UNAUTHENTICATED'
  /** The server is too busy, the database does not answer, or the request took too long. Try again after `retryAfterSeconds`. Repeat a mutation with the same clientMutationId. */
  | 'UNAVAILABLE';

/** What a part of a text is. */
export type FacetKind =
  /** A "#" with a tag. */
  | 'HASHTAG'
  /** A URL, or a domain. */
  | 'LINK'
  /** An "@" with a handle. */
  | 'MENTION';

/** How the server assembles a timeline. The server rejects strategies that it does not maintain. */
export type FeedStrategy =
  /** Stores entries when posts are written, in one capped document per active reader. */
  | 'CACHE'
  /** Assembles the timeline on each read from the posts of all followees. */
  | 'FANOUT_ON_READ'
  /** Stores entries when posts are written, as one small document per reader and post. */
  | 'INBOX'
  /** Stores entries when posts are written, in documents with a fixed number of entries. */
  | 'SIZED_BUCKETS'
  /** Stores entries when posts are written, in one document per reader and period. */
  | 'TIME_BUCKETS';

/** A page of followers or followees, without users that a block hides from the viewer. */
export type FollowConnection = {
  __typename?: 'FollowConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<FollowEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Number of all followers or followees, including users that a block hides. Null for a group, and if a block hides the profile. */
  totalCount?: Maybe<Scalars['Int']['output']>;
};

/** A follower or followee in a list. */
export type FollowEdge = {
  __typename?: 'FollowEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** When the follow began. */
  followedAt: Scalars['DateTime']['output'];
  /** The follower or followee, or null if it was deleted while this page was being read. */
  node?: Maybe<User>;
  /** The origin of the follow. */
  source: EdgeSource;
};

/** A private group of followees of the viewer. */
export type FollowGroup = {
  __typename?: 'FollowGroup';
  /** The name of the group, for following(group:) and timeline(group:). */
  name: Scalars['String']['output'];
};

/** A page of groups, sorted by name. */
export type FollowGroupConnection = {
  __typename?: 'FollowGroupConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<FollowGroupEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
};

/** A group in a list. */
export type FollowGroupEdge = {
  __typename?: 'FollowGroupEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The group, or null if it was deleted while this page was being read. */
  node?: Maybe<FollowGroup>;
};

/** Input of followUser. */
export type FollowUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of followUser. */
export type FollowUserPayload = {
  __typename?: 'FollowUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of followUsers. */
export type FollowUsersInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other users, at most 100. */
  users: Array<UserRef>;
};

/** Result of followUsers. */
export type FollowUsersPayload = {
  __typename?: 'FollowUsersPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** A result for each user, in order. */
  results: Array<FollowUsersResult>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** What followUsers did for one of its users. */
export type FollowUsersResult = {
  __typename?: 'FollowUsersResult';
  /** Whether the viewer did not follow the user before. */
  changed: Scalars['Boolean']['output'];
  /** Why the user was refused, or null. */
  error?: Maybe<Refusal>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
};

/** A like of a post by a user. */
export type Like = Node & {
  __typename?: 'Like';
  /** When the user liked the post, with millisecond precision. */
  createdAt: Scalars['DateTime']['output'];
  /** The global id of the like. */
  id: Scalars['ID']['output'];
  /** The liked post, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
  /** The user who likes the post, or null if the user has no account. */
  user?: Maybe<User>;
};

/** A page of the likes of a post. */
export type LikeConnection = {
  __typename?: 'LikeConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<LikeEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Number of all likes of the post, including those of users that a block hides. */
  totalCount?: Maybe<Scalars['Int']['output']>;
};

/** A like in a list. */
export type LikeEdge = {
  __typename?: 'LikeEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The like, or null if it was deleted while this page was being read. */
  node?: Maybe<Like>;
};

/** Input of likePost. */
export type LikePostInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the post. */
  postId: Scalars['ID']['input'];
};

/** Result of likePost. */
export type LikePostPayload = {
  __typename?: 'LikePostPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The edge of the like in the list of the post, so that a client can insert it there. Null for a repeat after the like was deleted. */
  likeEdge?: Maybe<LikeEdge>;
  /** The post after the mutation, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
};

/** A page of the posts that a user likes. */
export type LikedPostConnection = {
  __typename?: 'LikedPostConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<LikedPostEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
};

/** A post that a user likes, in a list. */
export type LikedPostEdge = {
  __typename?: 'LikedPostEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** When the user liked the post. */
  likedAt: Scalars['DateTime']['output'];
  /** The post, or null if it was deleted while this page was being read. */
  node?: Maybe<Post>;
};

/** The limits of this server. A character is what a reader sees as one, such as a letter with its accents or an emoji. */
export type Limits = {
  __typename?: 'Limits';
  /** The most UTF-8 bytes of an alternative text. */
  altBytesMax: Scalars['Int']['output'];
  /** The most characters of an alternative text. */
  altLengthMax: Scalars['Int']['output'];
  /** The most pixels of an attachment in one direction. */
  attachmentPixelsMax: Scalars['Int']['output'];
  /** The most attachments of a post. */
  attachmentsMax: Scalars['Int']['output'];
  /** The most UTF-8 bytes of a bio. */
  bioBytesMax: Scalars['Int']['output'];
  /** The most characters of a bio. */
  bioLengthMax: Scalars['Int']['output'];
  /** The most characters of a BlurHash. */
  blurhashLengthMax: Scalars['Int']['output'];
  /** The most bytes of the body of a request. */
  bodyBytesMax: Scalars['Int']['output'];
  /** The most UTF-16 code units of a clientMutationId. */
  clientMutationIdLengthMax: Scalars['Int']['output'];
  /** The most UTF-8 bytes of the text of a comment. */
  commentTextBytesMax: Scalars['Int']['output'];
  /** The most characters of the text of a comment. */
  commentTextLengthMax: Scalars['Int']['output'];
  /** The most aliases of a document. */
  documentAliasesMax: Scalars['Int']['output'];
  /** The most levels of nested fields of a document. */
  documentDepthMax: Scalars['Int']['output'];
  /** The most directives of a document. */
  documentDirectivesMax: Scalars['Int']['output'];
  /** The most characters of a name in a document. */
  documentNameLengthMax: Scalars['Int']['output'];
  /** The most fields of an operation with fragments expanded. */
  documentSelectionsMax: Scalars['Int']['output'];
  /** The most tokens of a document. */
  documentTokensMax: Scalars['Int']['output'];
  /** The most facets of a text. */
  facetsMax: Scalars['Int']['output'];
  /** The most UTF-8 bytes of the name of a group. */
  groupNameBytesMax: Scalars['Int']['output'];
  /** The most characters of the name of a group. */
  groupNameLengthMax: Scalars['Int']['output'];
  /** The most groups of a user. */
  groupsMax: Scalars['Int']['output'];
  /** The most groups that contain one followee. */
  groupsPerFolloweeMax: Scalars['Int']['output'];
  /** The most UTF-8 bytes of a display name. */
  nameBytesMax: Scalars['Int']['output'];
  /** The most characters of a display name. */
  nameLengthMax: Scalars['Int']['output'];
  /** The most new posts that timelineNews counts. */
  newsCountMax: Scalars['Int']['output'];
  /** The most cost of an operation, as in `extensions.cost`. */
  operationCostMax: Scalars['Int']['output'];
  /** Number of items of a page without first and last. */
  pageSizeDefault: Scalars['Int']['output'];
  /** The most items of a page, and ids of nodes. */
  pageSizeMax: Scalars['Int']['output'];
  /** The most UTF-8 bytes of the text of a post. */
  postTextBytesMax: Scalars['Int']['output'];
  /** The most characters of the text of a post. */
  postTextLengthMax: Scalars['Int']['output'];
  /** The most characters of a URL. */
  urlLengthMax: Scalars['Int']['output'];
  /** The most users of createUsers and followUsers. */
  usersMax: Scalars['Int']['output'];
};

/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type Mutation = {
  __typename?: 'Mutation';
  /** Adds a comment of the viewer to the post. */
  addComment?: Maybe<AddCommentPayload>;
  /** Hides the viewer and the user from each other: profiles, posts, likes, comments and shares. Ends the follows between them. */
  blockUser?: Maybe<BlockUserPayload>;
  /** Publishes a post of the viewer. */
  createPost?: Maybe<CreatePostPayload>;
  /** Creates the viewer's account. Fails with CONFLICT if the account exists or another account has the handle, and with FORBIDDEN if the handle is reserved. */
  createUser?: Maybe<CreateUserPayload>;
  /** Creates accounts of users. A subject that has an account keeps it. A user that is refused refuses no other. For a server whose token has the scope `act-for`, without the header `Feedline-Act-For`. */
  createUsers?: Maybe<CreateUsersPayload>;
  /** Deletes a comment. Only the author of the comment and the author of the post may delete it. */
  deleteComment?: Maybe<DeleteCommentPayload>;
  /** Deletes a post of the viewer. The next read of any timeline does not show it. */
  deletePost?: Maybe<DeletePostPayload>;
  /** Deletes the viewer's account at once, and hides what belongs to it. A background job deletes the edges and posts, and releases the handle after 24 seconds at the earliest. A minute after that, the viewer may create another account. */
  deleteUser?: Maybe<DeleteUserPayload>;
  /** Makes the viewer follow the user. */
  followUser?: Maybe<FollowUserPayload>;
  /** Makes the viewer follow users. A user that is refused refuses no other. */
  followUsers?: Maybe<FollowUsersPayload>;
  /** Adds a like of the viewer to the post. */
  likePost?: Maybe<LikePostPayload>;
  /** Hides the user's posts from the viewer's timelines. The user is not notified. */
  muteUser?: Maybe<MuteUserPayload>;
  /** Sets the viewer's groups that contain a followee. */
  setFollowGroups?: Maybe<SetFollowGroupsPayload>;
  /** Adds a share of the viewer to the post. A user shares a post at most once. */
  sharePost?: Maybe<SharePostPayload>;
  /** Removes the block. Ended follows are not restored. */
  unblockUser?: Maybe<UnblockUserPayload>;
  /** Makes the viewer unfollow the user. Removes the user from all of the viewer's groups. */
  unfollowUser?: Maybe<UnfollowUserPayload>;
  /** Removes the viewer's like from the post. */
  unlikePost?: Maybe<UnlikePostPayload>;
  /** Shows the user's posts in the viewer's timelines again. */
  unmuteUser?: Maybe<UnmuteUserPayload>;
  /** Removes the viewer's share from the post. */
  unsharePost?: Maybe<UnsharePostPayload>;
  /** Updates the viewer's profile. Fails with CONFLICT if another account has the handle, and with FORBIDDEN if it is reserved. */
  updateUser?: Maybe<UpdateUserPayload>;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationAddCommentArgs = {
  input: AddCommentInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationBlockUserArgs = {
  input: BlockUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationCreatePostArgs = {
  input: CreatePostInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationCreateUserArgs = {
  input: CreateUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationCreateUsersArgs = {
  input: CreateUsersInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationDeleteCommentArgs = {
  input: DeleteCommentInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationDeletePostArgs = {
  input: DeletePostInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationDeleteUserArgs = {
  input: DeleteUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationFollowUserArgs = {
  input: FollowUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationFollowUsersArgs = {
  input: FollowUsersInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationLikePostArgs = {
  input: LikePostInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationMuteUserArgs = {
  input: MuteUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationSetFollowGroupsArgs = {
  input: SetFollowGroupsInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationSharePostArgs = {
  input: SharePostInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationUnblockUserArgs = {
  input: UnblockUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationUnfollowUserArgs = {
  input: UnfollowUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationUnlikePostArgs = {
  input: UnlikePostInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationUnmuteUserArgs = {
  input: UnmuteUserInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationUnsharePostArgs = {
  input: UnsharePostInput;
};


/** Mutations change data as the viewer. Several mutations in one request run one after another. */
export type MutationUpdateUserArgs = {
  input: UpdateUserInput;
};

/** Input of muteUser. */
export type MuteUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of muteUser. */
export type MuteUserPayload = {
  __typename?: 'MuteUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** A page of the followees that the viewer and the user have in common. */
export type MutualConnection = {
  __typename?: 'MutualConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<UserEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Number of users in the list. It counts only the viewer's newest 1,000 followees. */
  totalCount: Scalars['Int']['output'];
};

/** A user of createUsers. */
export type NewUser = {
  /** The picture of the user, an http or https URL of at most 2,048 characters. */
  avatarUrl?: InputMaybe<Scalars['String']['input']>;
  /** The wide picture above the profile, an http or https URL of at most 2,048 characters. */
  bannerUrl?: InputMaybe<Scalars['String']['input']>;
  /** A short text about the user, at most 256 characters. */
  bio?: InputMaybe<Scalars['String']['input']>;
  /** The handle of the user: 1 to 64 lowercase letters, digits, ".", "_" or "-", with a letter or digit first and last. Any case and a leading "@" are accepted. Default: the subject, if that is a handle. */
  handle?: InputMaybe<Scalars['String']['input']>;
  /** The display name of the user, 1 to 64 characters. Invisible characters and reserved names are refused. */
  name: Scalars['String']['input'];
  /** The subject that the tokens of the user will have, 1 to 255 bytes, by the issuer that the server acts for. */
  subject: Scalars['String']['input'];
};

/** An object with a global id. The node query reads it by this id. */
export type Node = {
  /** The global id, unique among all objects. */
  id: Scalars['ID']['output'];
};

/** Position of a page in its list. */
export type PageInfo = {
  __typename?: 'PageInfo';
  /** The cursor of the last edge, or null if the page is empty. */
  endCursor?: Maybe<Scalars['String']['output']>;
  /** Whether an item follows the last edge of the page. The value is exact. */
  hasNextPage: Scalars['Boolean']['output'];
  /** Whether an item precedes the first edge of the page. The value is exact. */
  hasPreviousPage: Scalars['Boolean']['output'];
  /** The cursor of the first edge, or null if the page is empty. */
  startCursor?: Maybe<Scalars['String']['output']>;
};

/** A post of a user. */
export type Post = Node & {
  __typename?: 'Post';
  /** The attachments of the post, at most four. */
  attachments: Array<Attachment>;
  /** The author of the post. */
  author: User;
  /** Number of comments on the post, also of comments that a block hides. */
  commentCount: Scalars['Int']['output'];
  /** The comments on the post, newest first, without entries of users that a block hides from the viewer. */
  comments: CommentConnection;
  /** When the post was created, with millisecond precision. */
  createdAt: Scalars['DateTime']['output'];
  /** The mentions, hashtags and links in the text of the post, in its order, at most 10. */
  facets: Array<TextFacet>;
  /** The global id of the post. */
  id: Scalars['ID']['output'];
  /** Number of likes of the post, also of likes that a block hides. */
  likeCount: Scalars['Int']['output'];
  /** The likes of the post, newest first, without entries of users that a block hides from the viewer. */
  likes: LikeConnection;
  /** Number of shares of the post, also of shares that a block hides. */
  shareCount: Scalars['Int']['output'];
  /** The shares of the post, newest first, without entries of users that a block hides from the viewer. */
  shares: ShareConnection;
  /** The text of the post, at most 300 characters and 3,000 bytes, in Unicode NFC. */
  text: Scalars['String']['output'];
  /** Whether the viewer may delete the post. False for an anonymous request. */
  viewerCanDelete: Scalars['Boolean']['output'];
  /** Whether the viewer likes the post. False for an anonymous request. */
  viewerHasLiked: Scalars['Boolean']['output'];
  /** Whether the viewer shared the post. False for an anonymous request. */
  viewerHasShared: Scalars['Boolean']['output'];
};


/** A post of a user. */
export type PostCommentsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A post of a user. */
export type PostLikesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A post of a user. */
export type PostSharesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of an author's posts. */
export type PostConnection = {
  __typename?: 'PostConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<PostEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Number of all posts of the author. Null if a block hides the profile. */
  totalCount?: Maybe<Scalars['Int']['output']>;
};

/** A post in a list. */
export type PostEdge = {
  __typename?: 'PostEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The post, or null if it was deleted while this page was being read. */
  node?: Maybe<Post>;
};

/** Queries read data and change nothing. */
export type Query = {
  __typename?: 'Query';
  /** The meaning of an error code. Sends no command to the database. */
  errorMeaning: Scalars['String']['output'];
  /** Whether createUser or updateUser could take this handle now. True for the viewer's own and former handles. A reserved handle is not available, nor one that another account has or keeps, nor a further one for a viewer who keeps too many. */
  isHandleAvailable: Scalars['Boolean']['output'];
  /** The limits of this server. Sends no command to the database. */
  limits: Limits;
  /** The object with this global id, or null if it was deleted, the viewer may not see it, or the text is no global id. */
  node?: Maybe<Node>;
  /** The objects with these global ids, in the same order. Null replaces a deleted object, an object that the viewer may not see, and a text that is no global id. */
  nodes: Array<Maybe<Node>>;
  /** The post with this global id, or null if it was deleted or a block hides it. */
  post?: Maybe<Post>;
  /** The rate limit of the client. Null if the server has no limit. */
  rateLimit?: Maybe<RateLimit>;
  /** The viewer's home timeline, newest first. To poll for new posts, use timelineNews. To read them, pass last, and the pollCursor as before. */
  timeline?: Maybe<TimelineConnection>;
  /** What is new in the viewer's home timeline since a poll. Without changed, it reads only new posts. */
  timelineNews?: Maybe<TimelineNews>;
  /** The user with this handle, or null if there is no such user. A former handle that the user keeps finds the user too: compare `handle`, and correct the link. A block hides the profile, but not the handle. */
  user?: Maybe<User>;
  /** The signed-in viewer, or null for an anonymous request. */
  viewer?: Maybe<Viewer>;
  /** The reasons why the viewer's timeline shows a post, or null if the post does not belong there. */
  whyInTimeline?: Maybe<Array<TimelineReason>>;
  /** All reasons why the viewer's timeline does not show a post, including a pending delivery. Null if there is no reason. */
  whyNotInTimeline?: Maybe<Array<TimelineReason>>;
};


/** Queries read data and change nothing. */
export type QueryErrorMeaningArgs = {
  code: ErrorCode;
};


/** Queries read data and change nothing. */
export type QueryIsHandleAvailableArgs = {
  handle: Scalars['String']['input'];
};


/** Queries read data and change nothing. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** Queries read data and change nothing. */
export type QueryNodesArgs = {
  ids: Array<Scalars['ID']['input']>;
};


/** Queries read data and change nothing. */
export type QueryPostArgs = {
  id: Scalars['ID']['input'];
};


/** Queries read data and change nothing. */
export type QueryTimelineArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  group?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  strategy?: InputMaybe<FeedStrategy>;
};


/** Queries read data and change nothing. */
export type QueryTimelineNewsArgs = {
  group?: InputMaybe<Scalars['String']['input']>;
  since: Scalars['String']['input'];
  strategy?: InputMaybe<FeedStrategy>;
};


/** Queries read data and change nothing. */
export type QueryUserArgs = {
  handle: Scalars['String']['input'];
};


/** Queries read data and change nothing. */
export type QueryWhyInTimelineArgs = {
  group?: InputMaybe<Scalars['String']['input']>;
  post: Scalars['ID']['input'];
};


/** Queries read data and change nothing. */
export type QueryWhyNotInTimelineArgs = {
  group?: InputMaybe<Scalars['String']['input']>;
  post: Scalars['ID']['input'];
};

/** What a client may use in a minute. A client is the viewer, or the address of an anonymous request. */
export type RateLimit = {
  __typename?: 'RateLimit';
  /** The cost of this request. */
  cost: Scalars['Int']['output'];
  /** The cost that the client may use in a minute. */
  limit: Scalars['Int']['output'];
  /** The cost that the client has left after this request. */
  remaining: Scalars['Int']['output'];
  /** When the whole limit is available again, if the client sends nothing until then. */
  resetAt: Scalars['DateTime']['output'];
};

/** Why one of several users was refused. */
export type Refusal = {
  __typename?: 'Refusal';
  /** The argument that was wrong, such as `input.users.3.handle`, or null. */
  argument?: Maybe<Scalars['String']['output']>;
  /** As `extensions.code` of an error. */
  code: ErrorCode;
  /** As the message of an error. */
  message: Scalars['String']['output'];
};

/** A role of a viewer, which the issuer of the token grants. */
export type Role =
  /** An administrator of the application. */
  | 'ADMIN'
  /** A moderator of the content. */
  | 'MODERATOR';

/** Input of setFollowGroups. */
export type SetFollowGroupsInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** At most ten group names of at most 64 characters each. An empty list removes the followee from all groups. */
  groups: Array<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of setFollowGroups. */
export type SetFollowGroupsPayload = {
  __typename?: 'SetFollowGroupsPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The groups of the followee after the mutation, sorted by name, at most ten. */
  groups: Array<Scalars['String']['output']>;
  /** The followee, or null if the followee has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** A share of a post by a user. */
export type Share = Node & {
  __typename?: 'Share';
  /** When the user shared the post, with millisecond precision. */
  createdAt: Scalars['DateTime']['output'];
  /** The global id of the share. */
  id: Scalars['ID']['output'];
  /** The shared post, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
  /** The user who shared the post, or null if the user has no account. */
  user?: Maybe<User>;
};

/** A page of the shares of a post. */
export type ShareConnection = {
  __typename?: 'ShareConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<ShareEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Number of all shares of the post, including those of users that a block hides. */
  totalCount?: Maybe<Scalars['Int']['output']>;
};

/** A share in a list. */
export type ShareEdge = {
  __typename?: 'ShareEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The share, or null if it was deleted while this page was being read. */
  node?: Maybe<Share>;
};

/** Input of sharePost. */
export type SharePostInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the post. */
  postId: Scalars['ID']['input'];
};

/** Result of sharePost. */
export type SharePostPayload = {
  __typename?: 'SharePostPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The post after the mutation, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
  /** The edge of the share in the list of the post, so that a client can insert it there. Null for a repeat after the share was deleted. */
  shareEdge?: Maybe<ShareEdge>;
};

/** A page of suggested users. The list has at most 100 users. */
export type SuggestionConnection = {
  __typename?: 'SuggestionConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<SuggestionEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
};

/** A suggested user in a list. */
export type SuggestionEdge = {
  __typename?: 'SuggestionEdge';
  /** Number of the viewer's followees who follow the suggested user. It counts only the viewer's newest 100 followees and 10,000 of their follows, an equal share of each, newest first. */
  commonCount: Scalars['Int']['output'];
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The suggested user, or null if it was deleted while this page was being read. */
  node?: Maybe<User>;
};

/** A mention, hashtag or link in a text. The facets of a text are in its order and do not overlap. */
export type TextFacet = {
  __typename?: 'TextFacet';
  /** The position after the last character, in Unicode code points. */
  end: Scalars['Int']['output'];
  /** The mentioned handle as it was written, in lower case. Null for other facets. */
  handle?: Maybe<Scalars['String']['output']>;
  /** What the part of the text is. */
  kind: FacetKind;
  /** The position of the first character, in Unicode code points. */
  start: Scalars['Int']['output'];
  /** The tag without its "#", as it was written. Null for other facets. */
  tag?: Maybe<Scalars['String']['output']>;
  /** The http or https URL of the link. Null for other facets. */
  url?: Maybe<Scalars['String']['output']>;
  /** The user who had the handle when the text was written, whatever the handle is now. Null for other facets, without such an account, or if a block hides the user. */
  user?: Maybe<User>;
};

/** A page of a home timeline: posts of the viewer and of followees, without muted and blocked authors. */
export type TimelineConnection = {
  __typename?: 'TimelineConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<TimelineEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
  /** Whether a post of this timeline may be missing because its delivery has not ended. If false, the page holds every post that belonged to it when the query began. Always false for FANOUT_ON_READ. */
  pending: Scalars['Boolean']['output'];
  /** The cursor for polls by a client that holds this page. It is below every post that may still appear, so a page read from it may repeat posts. Null for a page after a cursor, because newer posts are not on it. */
  pollCursor?: Maybe<Scalars['String']['output']>;
  /** The strategy that produced this page. It is FANOUT_ON_READ if the requested strategy does not reach back far enough or does not cover the viewer yet. */
  servedBy: FeedStrategy;
  /** The requested strategy, or the configured default strategy. */
  strategy: FeedStrategy;
};

/** A post in a timeline. */
export type TimelineEdge = {
  __typename?: 'TimelineEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The post, or null if it was deleted while this page was being read. */
  node?: Maybe<Post>;
};

/** What is new in a home timeline, for a client that polls. It is not a part of the timeline. */
export type TimelineNews = {
  __typename?: 'TimelineNews';
  /** The authors of the newest such posts, newest first, at most 3. */
  authors: Array<User>;
  /** Whether the posts that the client holds differ from the timeline, for example after a follow, a block or a deletion. Then load the first page again. If false, they are up to date, down to the oldest post of the first page. */
  changed: Scalars['Boolean']['output'];
  /** The number of posts that the client does not hold yet, at most 20. */
  count: Scalars['Int']['output'];
  /** Whether there are more than 20 such posts. */
  hasMore: Scalars['Boolean']['output'];
  /** The cursor of the next poll, if the client does not read the new posts now. */
  pollCursor: Scalars['String']['output'];
};

/** A reason why a timeline shows or does not show a post, with details. */
export type TimelineReason = {
  __typename?: 'TimelineReason';
  /** The code of the reason. */
  code: TimelineReasonCode;
  /** The viewer's groups that contain the author. Filled only for the codes IN_GROUP and NOT_IN_GROUP. */
  groups: Array<Scalars['String']['output']>;
  /** The reason as an English sentence. */
  message: Scalars['String']['output'];
  /** When the viewer followed the author. Set only for the code FOLLOWED. */
  since?: Maybe<Scalars['DateTime']['output']>;
};

/** A reason why a timeline shows or does not show a post. */
export type TimelineReasonCode =
  /** The author no longer has an account. */
  | 'AUTHOR_DELETED'
  /** The viewer blocked the author, or the author blocked the viewer. */
  | 'BLOCKED'
  /** The delivery of the post is pending. Strategies that store timelines may not show the post yet. */
  | 'DELIVERY_PENDING'
  /** The viewer follows the author. */
  | 'FOLLOWED'
  /** The author is in the requested group. */
  | 'IN_GROUP'
  /** The viewer muted the author. */
  | 'MUTED'
  /** The viewer does not follow the author. */
  | 'NOT_FOLLOWED'
  /** The author is not in the requested group. The viewer's own posts are in no group. */
  | 'NOT_IN_GROUP'
  /** The viewer published the post. */
  | 'OWN_POST'
  /** The post does not exist, or was deleted. */
  | 'POST_DELETED';

/** Input of unblockUser. */
export type UnblockUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of unblockUser. */
export type UnblockUserPayload = {
  __typename?: 'UnblockUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of unfollowUser. */
export type UnfollowUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of unfollowUser. */
export type UnfollowUserPayload = {
  __typename?: 'UnfollowUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of unlikePost. */
export type UnlikePostInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the post. */
  postId: Scalars['ID']['input'];
};

/** Result of unlikePost. */
export type UnlikePostPayload = {
  __typename?: 'UnlikePostPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The global id of the deleted like. */
  deletedLikeId: Scalars['ID']['output'];
  /** The post after the mutation, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
};

/** Input of unmuteUser. */
export type UnmuteUserInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The other user. */
  user: UserRef;
};

/** Result of unmuteUser. */
export type UnmuteUserPayload = {
  __typename?: 'UnmuteUserPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user, or null if the user has no account. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** Input of unsharePost. */
export type UnsharePostInput = {
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The global id of the post. */
  postId: Scalars['ID']['input'];
};

/** Result of unsharePost. */
export type UnsharePostPayload = {
  __typename?: 'UnsharePostPayload';
  /** Whether the mutation changed anything. False if the requested state already existed. */
  changed: Scalars['Boolean']['output'];
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The global id of the deleted share. */
  deletedShareId: Scalars['ID']['output'];
  /** The post after the mutation, or null if the post does not exist or a block hides it. */
  post?: Maybe<Post>;
};

/** Input of updateUser. Absent fields stay unchanged. An empty text removes a field. */
export type UpdateUserInput = {
  /** The picture of the user, an http or https URL of at most 2,048 characters. Null or an empty text removes it. */
  avatarUrl?: InputMaybe<Scalars['String']['input']>;
  /** The wide picture above the profile, an http or https URL of at most 2,048 characters. Null or an empty text removes it. */
  bannerUrl?: InputMaybe<Scalars['String']['input']>;
  /** A short text about the user, at most 256 characters. Null or an empty text removes it. */
  bio?: InputMaybe<Scalars['String']['input']>;
  /** Optional idempotency key, at most 128 characters. Repeating a mutation with the same key within 24 hours returns the first result, with null for what was deleted, and changes nothing. Empty: no key. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** Another handle of the user. The one before stays reserved for the user for some time. Links by id and mentions stay. */
  handle?: InputMaybe<Scalars['String']['input']>;
  /** The display name of the user, 1 to 64 characters. Invisible characters and reserved names are refused. */
  name?: InputMaybe<Scalars['String']['input']>;
};

/** Result of updateUser. */
export type UpdateUserPayload = {
  __typename?: 'UpdateUserPayload';
  /** The clientMutationId of the input. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The viewer's account. Null for a repeat after the account was deleted. */
  user?: Maybe<User>;
  /** The viewer after the mutation. */
  viewer: Viewer;
};

/** A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty. */
export type User = Node & {
  __typename?: 'User';
  /** The http or https URL of the picture of the user. Null without one, or if a block hides the profile. */
  avatarUrl?: Maybe<Scalars['String']['output']>;
  /** The http or https URL of the wide picture above the profile. Null without one, or if a block hides the profile. */
  bannerUrl?: Maybe<Scalars['String']['output']>;
  /** A short text about the user, at most 256 characters. Null if a block hides the profile. */
  bio?: Maybe<Scalars['String']['output']>;
  /** When the account was created. */
  createdAt: Scalars['DateTime']['output'];
  /** Number of users who follow the user, including users that a block hides. Null if a block hides the profile. */
  followerCount?: Maybe<Scalars['Int']['output']>;
  /** The followers of the user, newest first, without users that a block hides from the viewer. */
  followers: FollowConnection;
  /** The followees of the user, newest first, without users that a block hides from the viewer. */
  following: FollowConnection;
  /** Number of users that the user follows, including users that a block hides. Null if a block hides the profile. */
  followingCount?: Maybe<Scalars['Int']['output']>;
  /** Whether the user follows the viewer. False for an anonymous request. */
  followsViewer: Scalars['Boolean']['output'];
  /** The unique handle of the user. The user can change it, so keep the id, and show the handle. */
  handle: Scalars['String']['output'];
  /** The global id of the user. */
  id: Scalars['ID']['output'];
  /** Whether the user is the viewer. False for an anonymous request. */
  isViewer: Scalars['Boolean']['output'];
  /** The posts that the user likes, last liked first, without posts that a block hides from the viewer. */
  likedPosts: LikedPostConnection;
  /** The followees that the viewer and the user have in common, the viewer's newest follow first. Only the viewer's newest 1,000 followees are compared. On the viewer's own user, these are the viewer's followees. Empty for an anonymous request, and if a block hides the user. */
  mutuals: MutualConnection;
  /** The display name of the user, at most 64 characters. The handle if a block hides the profile. */
  name: Scalars['String']['output'];
  /** Number of posts of the user. Null if a block hides the profile. */
  postCount?: Maybe<Scalars['Int']['output']>;
  /** The posts of the user, newest first. Empty if a block hides the user. */
  posts: PostConnection;
  /** Whether the viewer may follow the user, also if the viewer does already. False for the viewer, after a block, and for an anonymous request. */
  viewerCanFollow: Scalars['Boolean']['output'];
  /** Whether the viewer follows the user. False for an anonymous request. */
  viewerFollows: Scalars['Boolean']['output'];
  /** The viewer's groups that contain the user, at most ten. Only the viewer can see this. */
  viewerGroups: Array<Scalars['String']['output']>;
  /** Whether the viewer blocked the user. Only the viewer can see this. */
  viewerHasBlocked: Scalars['Boolean']['output'];
  /** Whether the viewer muted the user. Only the viewer can see this. */
  viewerHasMuted: Scalars['Boolean']['output'];
};


/** A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty. */
export type UserFollowersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty. */
export type UserFollowingArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  group?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty. */
export type UserLikedPostsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty. */
export type UserMutualsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A user with an account. A block in either direction hides the profile from the viewer. Then only the id, the handle, createdAt and the viewer's own relations remain, and all lists are empty. */
export type UserPostsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of users. */
export type UserConnection = {
  __typename?: 'UserConnection';
  /** The edges of this page. Their order is the same for first and last. */
  edges: Array<UserEdge>;
  /** Position of this page in the list. */
  pageInfo: PageInfo;
};

/** A user in a list. */
export type UserEdge = {
  __typename?: 'UserEdge';
  /** Position of this edge in the list. It stays valid after the item is deleted, and for every feed strategy. */
  cursor: Scalars['String']['output'];
  /** The user, or null if it was deleted while this page was being read. */
  node?: Maybe<User>;
};

/** A user, named by the global id or by the handle. Set exactly one. In a variable, an empty other one is absent. */
export type UserRef =
  /** The handle of the user: 1 to 64 lowercase letters, digits, ".", "_" or "-", with a letter or digit first and last. Any case and a leading "@" are accepted, and a handle that the user gave up and keeps. */
  { handle: Scalars['String']['input']; id?: never; }
  |  /** The global id of the user. */
  { handle?: never; id: Scalars['ID']['input']; };

/** The signed-in user, with the lists that only this user can see. */
export type Viewer = Node & {
  __typename?: 'Viewer';
  /** The users that the viewer blocked, newest first. */
  blocks: UserConnection;
  /** The groups of the viewer, sorted by name, at most 100. */
  groups: FollowGroupConnection;
  /** The handle of the viewer, or null before createUser. */
  handle?: Maybe<Scalars['String']['output']>;
  /** The global id of the viewer. The node query answers it to the viewer alone. */
  id: Scalars['ID']['output'];
  /** The users that the viewer muted, newest first. */
  mutes: UserConnection;
  /** The roles of the viewer, from the verified token. */
  roles: Array<Role>;
  /** Users that the viewer's followees follow, at most 100: most common followees first, then by account. Without the viewer, users that the viewer follows or muted, and users that a block hides. Only the viewer's newest 100 followees and 10,000 of their follows, an equal share of each, newest first, are counted. */
  suggestions: SuggestionConnection;
  /** The account of the viewer, or null before createUser. */
  user?: Maybe<User>;
};


/** The signed-in user, with the lists that only this user can see. */
export type ViewerBlocksArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** The signed-in user, with the lists that only this user can see. */
export type ViewerGroupsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** The signed-in user, with the lists that only this user can see. */
export type ViewerMutesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** The signed-in user, with the lists that only this user can see. */
export type ViewerSuggestionsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};
