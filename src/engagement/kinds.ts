/** What sets one kind of engagement apart. All other code is the same for every kind. */
export interface KindRow {
  /** The word for one entry, in error messages and descriptions. */
  readonly noun: string
  /**
   * What identifies an entry in its list: `actor` allows one entry per user, `_id` any number of
   * entries.
   */
  readonly key: 'actor' | '_id'
  /** Whether an entry has a text. It passes the rules of posts. */
  readonly hasText: boolean
  /**
   * The number of entries from which a list overflows its post. Another `OVERFLOW_THRESHOLD` than
   * 100 scales it.
   */
  readonly threshold: number
  /**
   * The type of an entry in the schema, also the prefix of its global id, and the descriptions of
   * its fields.
   */
  readonly node: {
    readonly type: string
    readonly description: string
    readonly user: string
    readonly post: string
    readonly createdAt: string
  }
  /** The descriptions of a connection of entries, and of its edges. */
  readonly connection: { readonly page: string; readonly edge: string }
  /**
   * What everyone sees of a post's entries: the list, a field of Post under the name of the kind,
   * and the field with their number. Null for a private kind, whose entries only their users see.
   */
  readonly public: { readonly list: string; readonly count: DescribedField } | null
  /**
   * The field of Post that says whether the viewer has an entry; null for none. Only a key `actor`
   * answers it.
   */
  readonly viewer: DescribedField | null
  /**
   * The list of the posts with an entry of a user: a field of User, or of Viewer, which only that
   * user sees. Null for none. Only a key `actor` has one.
   */
  readonly posts: PostsRow | null
  /** The mutation that adds an entry of the viewer. */
  readonly add: DescribedMutation
  /** The mutation that removes the viewer's entry, or for a key `_id` the entry with an id. */
  readonly remove: DescribedMutation
}

interface PostsRow extends DescribedField {
  readonly of: 'User' | 'Viewer'
  /** The beginning of the names of its types, and their descriptions. */
  readonly type: string
  readonly page: string
  readonly edge: string
  /** The field of an edge with the time of the entry. */
  readonly at: DescribedField
}

interface DescribedField {
  readonly field: string
  readonly description: string
}

interface DescribedMutation {
  readonly mutation: string
  readonly description: string
}

/**
 * The author of a post may delete entries with an id, so a private one would be no secret. No one
 * else sees which posts have a private entry of a user.
 */
type ValidRow = KindRow &
  (
    | { readonly key: 'actor'; readonly public: object }
    | { readonly key: 'actor'; readonly posts: null | { readonly of: 'Viewer' } }
    | { readonly viewer: null; readonly public: object; readonly posts: null }
  )

/** The standard `OVERFLOW_THRESHOLD`. */
export const thresholdDefault = 100

/**
 * The kinds of engagement: one row each. Configuration, lists, counts, global ids, the schema and
 * the checks of integrity derive from a row. The name of a row is also the name of its list in
 * stored posts.
 */
export const kinds = {
  likes: {
    noun: 'like',
    key: 'actor',
    hasText: false,
    threshold: thresholdDefault,
    node: {
      type: 'Like',
      description: 'A like of a post by a user.',
      user: 'The user who likes the post, or null if the user has no account.',
      post: 'The liked post, or null if the post does not exist or a block hides it.',
      createdAt: 'When the user liked the post, with millisecond precision.',
    },
    connection: { page: 'A page of the likes of a post.', edge: 'A like in a list.' },
    public: {
      list: 'The likes of the post, newest first, without entries of users that a block hides from the viewer.',
      count: {
        field: 'likeCount',
        description: 'Number of likes of the post, also of likes that a block hides.',
      },
    },
    viewer: {
      field: 'viewerHasLiked',
      description: 'Whether the viewer likes the post. False for an anonymous request.',
    },
    posts: {
      of: 'User',
      field: 'likedPosts',
      description:
        'The posts that the user likes, last liked first, without posts that a block hides from the viewer.',
      type: 'LikedPost',
      page: 'A page of the posts that a user likes.',
      edge: 'A post that a user likes, in a list.',
      at: { field: 'likedAt', description: 'When the user liked the post.' },
    },
    add: { mutation: 'likePost', description: 'Adds a like of the viewer to the post.' },
    remove: { mutation: 'unlikePost', description: "Removes the viewer's like from the post." },
  },
  comments: {
    noun: 'comment',
    key: '_id',
    hasText: true,
    // Entries with texts are larger.
    threshold: thresholdDefault / 5,
    node: {
      type: 'Comment',
      description: 'A comment on a post.',
      user: 'The author of the comment, or null if the author has no account.',
      post: 'The post of the comment, or null if the post does not exist or a block hides it.',
      createdAt: 'When the comment was created, with millisecond precision.',
    },
    connection: { page: 'A page of the comments on a post.', edge: 'A comment in a list.' },
    public: {
      list: 'The comments on the post, newest first, without entries of users that a block hides from the viewer.',
      count: {
        field: 'commentCount',
        description: 'Number of comments on the post, also of comments that a block hides.',
      },
    },
    viewer: null,
    posts: null,
    add: { mutation: 'addComment', description: 'Adds a comment of the viewer to the post.' },
    remove: {
      mutation: 'deleteComment',
      description:
        'Deletes a comment. Only the author of the comment and the author of the post may delete it.',
    },
  },
  shares: {
    noun: 'share',
    key: 'actor',
    hasText: false,
    threshold: thresholdDefault,
    node: {
      type: 'Share',
      description: 'A share of a post by a user.',
      user: 'The user who shared the post, or null if the user has no account.',
      post: 'The shared post, or null if the post does not exist or a block hides it.',
      createdAt: 'When the user shared the post, with millisecond precision.',
    },
    connection: { page: 'A page of the shares of a post.', edge: 'A share in a list.' },
    public: {
      list: 'The shares of the post, newest first, without entries of users that a block hides from the viewer.',
      count: {
        field: 'shareCount',
        description: 'Number of shares of the post, also of shares that a block hides.',
      },
    },
    viewer: {
      field: 'viewerHasShared',
      description: 'Whether the viewer shared the post. False for an anonymous request.',
    },
    posts: null,
    add: {
      mutation: 'sharePost',
      description: 'Adds a share of the viewer to the post. A user shares a post at most once.',
    },
    remove: { mutation: 'unsharePost', description: "Removes the viewer's share from the post." },
  },
} as const satisfies Readonly<Record<string, ValidRow>>

export type EngagementKind = keyof typeof kinds

/** The kinds whose entries are identified by a key. */
export type KindKeyedBy<Key extends KindRow['key']> = {
  [Kind in EngagementKind]: (typeof kinds)[Kind]['key'] extends Key ? Kind : never
}[EngagementKind]

/** The kinds whose lists everyone sees. */
export type PublicKind = {
  [Kind in EngagementKind]: (typeof kinds)[Kind]['public'] extends null ? never : Kind
}[EngagementKind]

/** A field of Post with the number of entries of a kind. */
export type CountField = (typeof kinds)[PublicKind]['public']['count']['field']

/** All kinds, in the order of the table. */
export const engagementKinds = Object.keys(kinds) as readonly EngagementKind[]

/** Whether the entries of a kind are identified by `key`. */
export const isKeyedBy = <Key extends KindRow['key']>(
  kind: EngagementKind,
  key: Key,
): kind is KindKeyedBy<Key> => kinds[kind].key === key

/** The kinds whose entries are identified by `key`, in the order of the table. */
export const kindsKeyedBy = <Key extends KindRow['key']>(key: Key) =>
  engagementKinds.filter((kind) => isKeyedBy(kind, key))

/** Whether everyone sees the list of a kind. */
export const isPublic = (kind: EngagementKind): kind is PublicKind =>
  (kinds[kind] as KindRow).public !== null

/** The kinds whose lists everyone sees, in the order of the table. */
export const publicKinds = engagementKinds.filter(isPublic)

/** The fields of Post with the numbers of entries, each with its kind. */
export const countFields: ReadonlyMap<CountField, PublicKind> = new Map(
  publicKinds.map((kind) => [kinds[kind].public.count.field, kind]),
)

/** The fields of Post about the viewer, each with the kind whose entries answer it. */
export const viewerFields: ReadonlyMap<string, KindKeyedBy<'actor'>> = new Map(
  kindsKeyedBy('actor').flatMap((kind) => {
    const { viewer } = kinds[kind]
    return viewer ? [[viewer.field, kind]] : []
  }),
)

/** The kinds with a list of the posts that have an entry of a user. */
export const kindsWithPosts = kindsKeyedBy('actor').flatMap((kind) => {
  const posts: PostsRow | null = kinds[kind].posts
  return posts ? [{ kind, ...posts }] : []
})
export type KindWithPosts = (typeof kindsWithPosts)[number]

/** What identifies an entry of a kind in its list: its actor or its id. */
export const entryKey = (kind: EngagementKind, actor: string, id: string): string =>
  kinds[kind].key === 'actor' ? actor : id

/** An object with a value for each kind. */
export const perKind = <Value>(create: (kind: EngagementKind) => Value) =>
  Object.fromEntries(engagementKinds.map((kind) => [kind, create(kind)])) as Readonly<
    Record<EngagementKind, Value>
  >
