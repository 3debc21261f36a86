import { type Collection, type Db, type MongoClient, MongoServerError, ObjectId } from 'mongodb'

interface LikedPost {
  _id: ObjectId
  content: string
  likes: string[]
  likeCount: number
  has_overflow: boolean
}

/** An implementation of likes. */
export interface LikeImplementation {
  /** Creates `count` posts without likes. */
  createPosts(count: number): Promise<ObjectId[]>
  like(post: ObjectId, user: string): Promise<boolean>
}

const newPosts = (count: number): LikedPost[] =>
  Array.from({ length: count }, () => ({
    _id: new ObjectId(),
    content: 'Cute Cat Video',
    likes: [],
    likeCount: 0,
    has_overflow: false,
  }))

async function insertPosts(posts: Collection<LikedPost>, count: number): Promise<ObjectId[]> {
  const docs = newPosts(count)
  await posts.insertMany(docs)
  return docs.map(({ _id }) => _id)
}

/**
 * The plain `addLike` of the outlier pattern: one embedded list. It throws on a write conflict, and
 * the call is then retried here.
 */
export function embeddedLike(client: MongoClient, db: Db): LikeImplementation {
  const posts = db.collection<LikedPost>('embedded_posts')
  const overflows = db.collection<{ post_id: ObjectId; likes: string[] }>('embedded_overflows')
  const threshold = 1000
  const addLike = async (postId: ObjectId, userId: string): Promise<boolean> => {
    const session = client.startSession()
    session.startTransaction()
    try {
      const post = await posts.findOne({ _id: postId }, { session })
      if (!post) throw new Error('Post not found')
      const overflow = post.has_overflow
        ? await overflows.findOne({ post_id: postId }, { session })
        : null
      if (post.likes.includes(userId) || overflow?.likes.includes(userId)) {
        await session.abortTransaction()
        return false
      }
      if (post.has_overflow) {
        await overflows.updateOne(
          { post_id: postId },
          { $addToSet: { likes: userId } },
          { session },
        )
      } else if (post.likes.length >= threshold) {
        await overflows.insertOne({ post_id: postId, likes: [userId] }, { session })
        await posts.updateOne({ _id: postId }, { $set: { has_overflow: true } }, { session })
      } else {
        await posts.updateOne({ _id: postId }, { $push: { likes: userId } }, { session })
      }
      await session.commitTransaction()
      return true
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction()
      throw error
    } finally {
      await session.endSession()
    }
  }
  return {
    createPosts: (count) => insertPosts(posts, count),
    like: async (post, user) => {
      for (;;) {
        try {
          return await addLike(post, user)
        } catch (error) {
          const isConflict =
            error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError')
          if (!isConflict) throw error
        }
      }
    },
  }
}

/** One document per like under a unique index, and a counter in the post. */
export async function uniqueRow(db: Db): Promise<LikeImplementation> {
  const posts = db.collection<LikedPost>('row_posts')
  const rows = db.collection<{ post: ObjectId; user: string }>('row_likes')
  await rows.createIndex({ post: 1, user: 1 }, { unique: true })
  return {
    createPosts: (count) => insertPosts(posts, count),
    like: async (post, user) => {
      try {
        await rows.insertOne({ post, user })
      } catch (error) {
        if (error instanceof MongoServerError && error.code === 11000) return false
        throw error
      }
      await posts.updateOne({ _id: post }, { $inc: { likeCount: 1 } })
      return true
    },
  }
}

/**
 * One conditional update. It checks no block and no account, and has no overflow and no list of
 * likes by user.
 */
export function bareUpdate(db: Db): LikeImplementation {
  const posts = db.collection<LikedPost>('bare_posts')
  return {
    createPosts: (count) => insertPosts(posts, count),
    like: async (_id, user) =>
      (
        await posts.updateOne(
          { _id, likes: { $ne: user } },
          { $push: { likes: user }, $inc: { likeCount: 1 } },
        )
      ).modifiedCount === 1,
  }
}
