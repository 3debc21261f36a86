export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** A date-time string at UTC, such as 2007-12-03T10:15:30Z, compliant with the `date-time` format outlined in section 5.6 of the RFC 3339 profile of the ISO 8601 standard for representation of dates and times using the Gregorian calendar.This scalar is serialized to a string in ISO 8601 format and parsed from a string in ISO 8601 format. */
  DateTimeISO: { input: string; output: string; }
};

/** Says something about a post. */
export type AddCommentInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The id of the post. */
  postId: Scalars['ID']['input'];
  /** At most 300 characters and 3,000 bytes. */
  text: Scalars['String']['input'];
};

/** What was said. */
export type AddCommentPayload = {
  __typename?: 'AddCommentPayload';
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The comment. */
  comment: Comment;
};

/** Something shown with a post. */
export type Attachment = {
  __typename?: 'Attachment';
  /** What it shows, in words. */
  alt?: Maybe<Scalars['String']['output']>;
  /** What it is. */
  kind: AttachmentKind;
  /** Where it is: http or https. */
  url: Scalars['String']['output'];
};

/** Something to show with a post. */
export type AttachmentInput = {
  /** What it shows, in at most 1,000 characters. */
  alt?: InputMaybe<Scalars['String']['input']>;
  /** What stands there. */
  kind: AttachmentKind;
  /** An http or https URL of at most 2,048 characters. */
  url: Scalars['String']['input'];
};

/** What stands at the URL of an attachment. */
export type AttachmentKind =
  /** A picture. */
  | 'IMAGE'
  /** A page. */
  | 'LINK'
  /** A film. */
  | 'VIDEO';

/** What somebody says about a post. */
export type Comment = Node & {
  __typename?: 'Comment';
  /** When it was said, to the millisecond. */
  createdAt: Scalars['DateTimeISO']['output'];
  /** The global id of the comment. */
  id: Scalars['ID']['output'];
  /** What it is about; null once it is gone. */
  post?: Maybe<Post>;
  /** At most 300 characters and 3,000 bytes, in Unicode NFC. */
  text: Scalars['String']['output'];
  /** Who says it; null once they are gone. */
  user?: Maybe<User>;
};

/** A page of the comments on a post. */
export type CommentConnection = {
  __typename?: 'CommentConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<CommentEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A comment in a list. */
export type CommentEdge = {
  __typename?: 'CommentEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The comment. Null when it vanished this very moment. */
  node?: Maybe<Comment>;
};

/** Publishes a post. */
export type CreatePostInput = {
  /** At most four. */
  attachments?: InputMaybe<Array<AttachmentInput>>;
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** At most 300 characters and 3,000 bytes. May be empty beside an attachment. */
  text: Scalars['String']['input'];
};

/** What was published. */
export type CreatePostPayload = {
  __typename?: 'CreatePostPayload';
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The post as it was published. */
  post: Post;
};

/** Opens the account of whoever is signed in. */
export type CreateUserInput = {
  /** A few words, at most 256 characters. */
  bio?: InputMaybe<Scalars['String']['input']>;
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The name to go by, 1 to 64 characters. */
  name: Scalars['String']['input'];
};

/** Removes a comment. */
export type DeleteCommentInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The id of the comment. */
  commentId: Scalars['ID']['input'];
};

/** What was removed. */
export type DeleteCommentPayload = {
  __typename?: 'DeleteCommentPayload';
  /** False when it was so already: a repeat changes nothing. */
  changed: Scalars['Boolean']['output'];
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The id of the comment. */
  deletedCommentId: Scalars['ID']['output'];
  /** The post as it is now; null once it is gone. */
  post?: Maybe<Post>;
};

/** Removes a post of the viewer's own. */
export type DeletePostInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The id of the post. */
  postId: Scalars['ID']['input'];
};

/** What was removed. */
export type DeletePostPayload = {
  __typename?: 'DeletePostPayload';
  /** False when it was so already: a repeat changes nothing. */
  changed: Scalars['Boolean']['output'];
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The id of the post. */
  deletedPostId: Scalars['ID']['output'];
};

/** Removes the viewer's account, edges and posts. */
export type DeleteUserInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
};

/** Whether there was an account to remove. */
export type DeleteUserPayload = {
  __typename?: 'DeleteUserPayload';
  /** False when it was so already: a repeat changes nothing. */
  changed: Scalars['Boolean']['output'];
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The handle. It is free again once everything of the user is cleared. */
  handle: Scalars['String']['output'];
};

/** Where a follow came from. */
export type EdgeSource =
  /** Carried over from Facebook. */
  | 'FACEBOOK'
  /** Made here. */
  | 'FEEDLINE'
  /** Loaded from a file. */
  | 'IMPORT'
  /** Carried over from Medium. */
  | 'MEDIUM'
  /** Carried over from Twitter. */
  | 'TWITTER';

/** What `extensions.code` of an error may be. */
export type ErrorCode =
  /** The HTTP request is not a GraphQL request, or could be forged by another site. */
  | 'BAD_REQUEST'
  /** An argument is wrong. `argument` names it. Nothing was changed. */
  | 'BAD_USER_INPUT'
  /** It clashes with what exists: a taken handle, a clientMutationId used for something else. */
  | 'CONFLICT'
  /** The viewer may not do this. */
  | 'FORBIDDEN'
  /** The document is not GraphQL. */
  | 'GRAPHQL_PARSE_FAILED'
  /** The document does not fit the schema. */
  | 'GRAPHQL_VALIDATION_FAILED'
  /** A fault of the server. `requestId` finds it in the log. */
  | 'INTERNAL_SERVER_ERROR'
  /** The document passes a limit. `limit` names it. Nothing was executed. */
  | 'LIMIT_EXCEEDED'
  /** What was named does not exist, or the viewer may not see it. */
  | 'NOT_FOUND'
  /** The document does not hold the operation to run. */
  | 'OPERATION_RESOLUTION_FAILURE'
  /** The request body passes the size limit. */
  | 'PAYLOAD_TOO_LARGE'
  /** The request needs a valid token. */
  | 'UNAUTHENTICATED'
  /** The database is out of reach or too busy. Try again later, a mutation with the same clientMutationId. */
  | 'UNAVAILABLE';

/** How a timeline is assembled. A server refuses those that it does not maintain. */
export type FeedStrategy =
  /** When posts are written, into one capped document for each active reader. */
  | 'CACHE'
  /** When it is read, from the posts of everyone followed. */
  | 'FANOUT_ON_READ'
  /** As INBOX, but authors with very many followers are read when asked. */
  | 'HYBRID'
  /** When posts are written, as one small entry a reader and post. */
  | 'INBOX'
  /** When posts are written, into documents of a fixed number of entries. */
  | 'SIZED_BUCKETS'
  /** When posts are written, into one document a reader and period. */
  | 'TIME_BUCKETS';

/** A page of followers or followees. */
export type FollowConnection = {
  __typename?: 'FollowConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<FollowEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** Somebody who follows, or is followed by, the user whose list it is. */
export type FollowEdge = {
  __typename?: 'FollowEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** Since when. */
  followedAt: Scalars['DateTimeISO']['output'];
  /** The person at the other end. Null when it vanished this very moment. */
  node?: Maybe<User>;
  /** Where the follow came from. */
  source: EdgeSource;
};

/** One of the groups in which the viewer keeps followees. */
export type FollowGroup = {
  __typename?: 'FollowGroup';
  /** Its name, for following(group:) and timeline(group:). */
  name: Scalars['String']['output'];
};

/** A page of groups, by name. */
export type FollowGroupConnection = {
  __typename?: 'FollowGroupConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<FollowGroupEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A group in the list. */
export type FollowGroupEdge = {
  __typename?: 'FollowGroupEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The group. Null when it vanished this very moment. */
  node?: Maybe<FollowGroup>;
};

/** That somebody likes a post. */
export type Like = Node & {
  __typename?: 'Like';
  /** Since when, to the millisecond. */
  createdAt: Scalars['DateTimeISO']['output'];
  /** The global id of the like. */
  id: Scalars['ID']['output'];
  /** What is liked; null once it is gone. */
  post?: Maybe<Post>;
  /** Who likes it; null once they are gone. */
  user?: Maybe<User>;
};

/** A page of the likes of a post. */
export type LikeConnection = {
  __typename?: 'LikeConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<LikeEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A like in a list. */
export type LikeEdge = {
  __typename?: 'LikeEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The like. Null when it vanished this very moment. */
  node?: Maybe<Like>;
};

/** A page of the posts that a user likes. */
export type LikedPostConnection = {
  __typename?: 'LikedPostConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<LikedPostEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A post that the user likes. */
export type LikedPostEdge = {
  __typename?: 'LikedPostEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** Since when the user likes it. */
  likedAt: Scalars['DateTimeISO']['output'];
  /** The post. Null when it vanished this very moment. */
  node?: Maybe<Post>;
};

/** All that can be changed, as the viewer. Several in a request run one by one. */
export type Mutation = {
  __typename?: 'Mutation';
  /** Says something about the post. */
  addComment?: Maybe<AddCommentPayload>;
  /** Hides each from the other, and ends what they follow of each other. */
  blockUser?: Maybe<RelationPayload>;
  /** Publishes a post as the viewer. */
  createPost?: Maybe<CreatePostPayload>;
  /** Opens the viewer's account. CONFLICT when there is one. */
  createUser?: Maybe<UserPayload>;
  /** Removes a comment: its author may, and the author of the post. */
  deleteComment?: Maybe<DeleteCommentPayload>;
  /** Removes a post of the viewer's own, everywhere and at once. */
  deletePost?: Maybe<DeletePostPayload>;
  /** Removes the person at once, then edges and posts in the background. The handle is free when that is done. */
  deleteUser?: Maybe<DeleteUserPayload>;
  /** Makes the viewer follow the user. */
  followUser?: Maybe<RelationPayload>;
  /** Makes the viewer like the post. */
  likePost?: Maybe<PostMarkPayload>;
  /** Hides the user's posts from the viewer's timelines. The user is not told. */
  muteUser?: Maybe<RelationPayload>;
  /** Puts a followee into exactly these of the viewer's groups. */
  setFollowGroups?: Maybe<SetFollowGroupsPayload>;
  /** Makes the viewer share the post, once. */
  sharePost?: Maybe<PostMarkPayload>;
  /** Lifts the block. Follows do not come back. */
  unblockUser?: Maybe<RelationPayload>;
  /** Ends it, and takes the user out of all groups. */
  unfollowUser?: Maybe<RelationPayload>;
  /** Takes the like back. */
  unlikePost?: Maybe<PostMarkPayload>;
  /** Shows them again. */
  unmuteUser?: Maybe<RelationPayload>;
  /** Takes the share back. */
  unsharePost?: Maybe<PostMarkPayload>;
  /** Changes the viewer's profile. */
  updateUser?: Maybe<UserPayload>;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationAddCommentArgs = {
  input: AddCommentInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationBlockUserArgs = {
  input: UserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationCreatePostArgs = {
  input: CreatePostInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationCreateUserArgs = {
  input: CreateUserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationDeleteCommentArgs = {
  input: DeleteCommentInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationDeletePostArgs = {
  input: DeletePostInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationDeleteUserArgs = {
  input: DeleteUserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationFollowUserArgs = {
  input: UserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationLikePostArgs = {
  input: PostInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationMuteUserArgs = {
  input: UserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationSetFollowGroupsArgs = {
  input: SetFollowGroupsInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationSharePostArgs = {
  input: PostInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationUnblockUserArgs = {
  input: UserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationUnfollowUserArgs = {
  input: UserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationUnlikePostArgs = {
  input: PostInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationUnmuteUserArgs = {
  input: UserInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationUnsharePostArgs = {
  input: PostInput;
};


/** All that can be changed, as the viewer. Several in a request run one by one. */
export type MutationUpdateUserArgs = {
  input: UpdateUserInput;
};

/** Whatever has an id of its own, and can be read again by it. */
export type Node = {
  /** Names this object among all others. */
  id: Scalars['ID']['output'];
};

/** Where a page lies in its list. */
export type PageInfo = {
  __typename?: 'PageInfo';
  /** The cursor of the last edge; null on an empty page. */
  endCursor?: Maybe<Scalars['String']['output']>;
  /** Whether something comes after the last edge, which is older. Exact. */
  hasNextPage: Scalars['Boolean']['output'];
  /** Whether something comes before the first edge, which is newer. Exact. */
  hasPreviousPage: Scalars['Boolean']['output'];
  /** The cursor of the first edge; null on an empty page. */
  startCursor?: Maybe<Scalars['String']['output']>;
};

/** What somebody published. */
export type Post = Node & {
  __typename?: 'Post';
  /** What is shown with it, at most four. */
  attachments: Array<Attachment>;
  /** Who published it. */
  author: User;
  /** How many comments it has. */
  commentCount: Scalars['Int']['output'];
  /** What people say, newest first. */
  comments: CommentConnection;
  /** When it was published, to the millisecond. */
  createdAt: Scalars['DateTimeISO']['output'];
  /** The global id of the post. */
  id: Scalars['ID']['output'];
  /** How many people like it. */
  likeCount: Scalars['Int']['output'];
  /** Who likes it, newest first. */
  likes: LikeConnection;
  /** How many people shared it. */
  shareCount: Scalars['Int']['output'];
  /** Who shared it, newest first. */
  shares: ShareConnection;
  /** At most 300 characters and 3,000 bytes, in Unicode NFC. */
  text: Scalars['String']['output'];
  /** Whether the viewer likes it; false for nobody. */
  viewerHasLiked: Scalars['Boolean']['output'];
  /** Whether the viewer shared it; false for nobody. */
  viewerHasShared: Scalars['Boolean']['output'];
};


/** What somebody published. */
export type PostCommentsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** What somebody published. */
export type PostLikesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** What somebody published. */
export type PostSharesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of an author's posts. */
export type PostConnection = {
  __typename?: 'PostConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<PostEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A post in a list. */
export type PostEdge = {
  __typename?: 'PostEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The post. Null when it vanished this very moment. */
  node?: Maybe<Post>;
};

/** Names the post that the mutation is about. */
export type PostInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The id of the post. */
  postId: Scalars['ID']['input'];
};

/** What became of the viewer and the post. */
export type PostMarkPayload = {
  __typename?: 'PostMarkPayload';
  /** False when it was so already: a repeat changes nothing. */
  changed: Scalars['Boolean']['output'];
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The post as it is now; null once it is gone. */
  post?: Maybe<Post>;
};

/** All that can be read. */
export type Query = {
  __typename?: 'Query';
  /** What an error code means. Reads nothing. */
  errorMeaning: Scalars['String']['output'];
  /** An object by its global id; null when it is gone or hidden from the viewer. */
  node?: Maybe<Node>;
  /** Objects by their global ids, in their order; null where one is gone or hidden from the viewer. */
  nodes: Array<Maybe<Node>>;
  /** The viewer's home timeline, newest first. To poll, ask for what comes before the first cursor you hold. */
  timeline?: Maybe<Timeline>;
  /** A user by handle; null when there is none. */
  user?: Maybe<User>;
  /** Who is signed in; null for nobody. */
  viewer?: Maybe<Viewer>;
  /** Why a post is in the viewer's timeline; null when it does not belong there. */
  whyInTimeline?: Maybe<Array<TimelineReason>>;
  /** All that keeps a post out of the viewer's timeline, a delivery that is under way included; null when nothing does. */
  whyNotInTimeline?: Maybe<Array<TimelineReason>>;
};


/** All that can be read. */
export type QueryErrorMeaningArgs = {
  code: ErrorCode;
};


/** All that can be read. */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/** All that can be read. */
export type QueryNodesArgs = {
  ids: Array<Scalars['ID']['input']>;
};


/** All that can be read. */
export type QueryTimelineArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  group?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
  strategy?: InputMaybe<FeedStrategy>;
};


/** All that can be read. */
export type QueryUserArgs = {
  handle: Scalars['String']['input'];
};


/** All that can be read. */
export type QueryWhyInTimelineArgs = {
  group?: InputMaybe<Scalars['String']['input']>;
  post: Scalars['ID']['input'];
};


/** All that can be read. */
export type QueryWhyNotInTimelineArgs = {
  group?: InputMaybe<Scalars['String']['input']>;
  post: Scalars['ID']['input'];
};

/** What became of the viewer and the user. */
export type RelationPayload = {
  __typename?: 'RelationPayload';
  /** False when it was so already: a repeat changes nothing. */
  changed: Scalars['Boolean']['output'];
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The other user; null when they have no account any more. */
  user?: Maybe<User>;
};

/** Puts a followee into exactly these groups. */
export type SetFollowGroupsInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** At most ten names of at most 64 characters. None takes the followee out of all. */
  groups: Array<Scalars['String']['input']>;
  /** The user's handle: 1 to 64 characters: lower-case letters, digits, and inside also ".", "_" and "-". */
  handle: Scalars['String']['input'];
};

/** The groups of a followee. */
export type SetFollowGroupsPayload = {
  __typename?: 'SetFollowGroupsPayload';
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The groups the followee is in now, by name, at most ten. */
  groups: Array<Scalars['String']['output']>;
  /** The followee; null when they have no account any more. */
  user?: Maybe<User>;
};

/** That somebody shared a post. */
export type Share = Node & {
  __typename?: 'Share';
  /** When, to the millisecond. */
  createdAt: Scalars['DateTimeISO']['output'];
  /** The global id of the share. */
  id: Scalars['ID']['output'];
  /** What was shared; null once it is gone. */
  post?: Maybe<Post>;
  /** Who shared it; null once they are gone. */
  user?: Maybe<User>;
};

/** A page of the shares of a post. */
export type ShareConnection = {
  __typename?: 'ShareConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<ShareEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A share in a list. */
export type ShareEdge = {
  __typename?: 'ShareEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The share. Null when it vanished this very moment. */
  node?: Maybe<Share>;
};

/** A page of a timeline: every post of everyone the reader follows, and of the reader, less those muted or blocked. */
export type Timeline = {
  __typename?: 'Timeline';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<TimelineEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
  /** Whether a post that belongs to this timeline may be missing because its delivery has not ended. False: the page holds every post that belonged to it when the query began. Always false for FANOUT_ON_READ. */
  pending: Scalars['Boolean']['output'];
  /** The strategy the page came from: FANOUT_ON_READ where the one asked for does not reach so far, or does not cover the reader yet. */
  servedBy: FeedStrategy;
  /** The strategy that was asked for, or the configured one. */
  strategy: FeedStrategy;
};

/** A post in a timeline. */
export type TimelineEdge = {
  __typename?: 'TimelineEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The post. Null when it vanished this very moment. */
  node?: Maybe<Post>;
};

/** Why a post is in a timeline, or is not. */
export type TimelineReason = {
  __typename?: 'TimelineReason';
  /** The reason. */
  code: TimelineReasonCode;
  /** The viewer's groups that the author is in, where groups are the reason. */
  groups: Array<Scalars['String']['output']>;
  /** The same in words. */
  message: Scalars['String']['output'];
  /** Since when the viewer follows the author, where that is the reason. */
  since?: Maybe<Scalars['DateTimeISO']['output']>;
};

/** What decides whether a post is in a timeline. */
export type TimelineReasonCode =
  /** Its author has no account any more. */
  | 'AUTHOR_DELETED'
  /** A block stands between the viewer and its author. */
  | 'BLOCKED'
  /** It belongs there, and is still being delivered: a strategy that works on write may not show it yet. */
  | 'DELIVERY_PENDING'
  /** The viewer follows its author. */
  | 'FOLLOWED'
  /** Its author is in the group that was asked for. */
  | 'IN_GROUP'
  /** The viewer muted its author. */
  | 'MUTED'
  /** The viewer does not follow its author. */
  | 'NOT_FOLLOWED'
  /** Its author is not in the group that was asked for; nobody keeps themselves in one. */
  | 'NOT_IN_GROUP'
  /** The viewer published it. */
  | 'OWN_POST'
  /** There is no such post; if there was, it was deleted. */
  | 'POST_DELETED';

/** Changes the viewer's profile; what is absent stays. */
export type UpdateUserInput = {
  /** At most 256 characters; null removes it. */
  bio?: InputMaybe<Scalars['String']['input']>;
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The name to go by, 1 to 64 characters. */
  name?: InputMaybe<Scalars['String']['input']>;
};

/** A person. */
export type User = Node & {
  __typename?: 'User';
  /** What the user says of themselves, at most 256 characters. */
  bio?: Maybe<Scalars['String']['output']>;
  /** When the account was opened. */
  createdAt: Scalars['DateTimeISO']['output'];
  /** Who follows the user, newest first. */
  followers: FollowConnection;
  /** Whom the user follows, newest first. */
  following: FollowConnection;
  /** Whether the user follows the viewer; false for nobody. */
  followsViewer: Scalars['Boolean']['output'];
  /** The unique name that the user is known and mentioned by. */
  handle: Scalars['String']['output'];
  /** The global id of the user. */
  id: Scalars['ID']['output'];
  /** The posts that the user likes and the viewer may read, the last liked first. */
  likedPosts: LikedPostConnection;
  /** The name the user goes by, at most 64 characters. */
  name: Scalars['String']['output'];
  /** What the user published, newest first. Empty where a block stands between the user and the viewer. */
  posts: PostConnection;
  /** How many followers, followees and posts the user has. */
  stats: UserStats;
  /** Whether the viewer follows the user; false for nobody. */
  viewerFollows: Scalars['Boolean']['output'];
  /** In which of their groups the viewer put the user, at most ten. Only the viewer can see it. */
  viewerGroups: Array<Scalars['String']['output']>;
  /** Whether the viewer blocked the user. Only the viewer can see it. */
  viewerHasBlocked: Scalars['Boolean']['output'];
  /** Whether the viewer muted the user. Only the viewer can see it. */
  viewerHasMuted: Scalars['Boolean']['output'];
};


/** A person. */
export type UserFollowersArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A person. */
export type UserFollowingArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  group?: InputMaybe<Scalars['String']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A person. */
export type UserLikedPostsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** A person. */
export type UserPostsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of users. */
export type UserConnection = {
  __typename?: 'UserConnection';
  /** The page, newest first whichever way it was asked for. */
  edges: Array<UserEdge>;
  /** Where the page lies in the list. */
  pageInfo: PageInfo;
};

/** A user in a list. */
export type UserEdge = {
  __typename?: 'UserEdge';
  /** This place in the list. Stays valid when what stood here is gone, and under every strategy. */
  cursor: Scalars['String']['output'];
  /** The user. Null when it vanished this very moment. */
  node?: Maybe<User>;
};

/** Names the user whom the mutation is about. */
export type UserInput = {
  /** Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result. */
  clientMutationId?: InputMaybe<Scalars['String']['input']>;
  /** The user's handle: 1 to 64 characters: lower-case letters, digits, and inside also ".", "_" and "-". */
  handle: Scalars['String']['input'];
};

/** The account as it is now. */
export type UserPayload = {
  __typename?: 'UserPayload';
  /** As it was given. */
  clientMutationId?: Maybe<Scalars['String']['output']>;
  /** The viewer's account. */
  user: User;
};

/** The counters of a user. They change together with what they count. */
export type UserStats = {
  __typename?: 'UserStats';
  /** How many people follow the user. */
  followers: Scalars['Int']['output'];
  /** How many people the user follows. */
  following: Scalars['Int']['output'];
  /** How many posts the user has. */
  posts: Scalars['Int']['output'];
};

/** Who is signed in, and what only they may see. */
export type Viewer = {
  __typename?: 'Viewer';
  /** Whom the viewer blocked, newest first. */
  blocks: UserConnection;
  /** The groups of the viewer, by name; at most 100. */
  groups: FollowGroupConnection;
  /** The verified token's subject. */
  handle: Scalars['String']['output'];
  /** Whom the viewer muted, newest first. */
  mutes: UserConnection;
  /** Their account; null until createUser. */
  user?: Maybe<User>;
};


/** Who is signed in, and what only they may see. */
export type ViewerBlocksArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** Who is signed in, and what only they may see. */
export type ViewerGroupsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/** Who is signed in, and what only they may see. */
export type ViewerMutesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};
