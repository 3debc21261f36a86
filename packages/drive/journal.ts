/** How many posts a run remembers for likes. */
const recentMax = 500

/** What the deployment has acknowledged to a run. Bounded by the number of arrivals. */
export class Journal {
  /** The ids of acknowledged posts, by the number of the author. */
  readonly posts = new Map<number, string[]>()
  /** Acknowledged followees, by the number of the follower. */
  readonly follows = new Map<number, Set<number>>()
  /** The ids of the posts of acknowledged likes, by the number of the user. */
  readonly likes = new Map<number, Set<string>>()
  private readonly recent: string[] = []
  private readonly known = new Set<string>()

  addPost(author: number, id: string): void {
    const posts = this.posts.get(author)
    if (posts) posts.push(id)
    else this.posts.set(author, [id])
    this.see([id])
  }

  addFollow(follower: number, followee: number): void {
    addTo(this.follows, follower, followee)
  }

  addLike(user: number, post: string): void {
    addTo(this.likes, user, post)
  }

  /** Remembers posts that a page showed, newest first. */
  see(posts: readonly string[]): void {
    for (const id of posts.toReversed()) {
      if (this.known.has(id)) continue
      this.known.add(id)
      this.recent.push(id)
      if (this.recent.length > recentMax) this.known.delete(this.recent.shift() as string)
    }
  }

  /**
   * Draws a post for a like. Posts seen last are drawn most. @param random at least 0 and below 1.
   */
  drawPost(random: number): string | undefined {
    return this.recent.at(-1 - Math.floor(random ** 3 * this.recent.length))
  }

  get acknowledged() {
    return {
      posts: countOf(this.posts, ({ length }) => length),
      follows: countOf(this.follows, ({ size }) => size),
      likes: countOf(this.likes, ({ size }) => size),
    }
  }
}

const countOf = <Values>(all: ReadonlyMap<number, Values>, size: (values: Values) => number) =>
  [...all.values()].reduce((sum, values) => sum + size(values), 0)

function addTo<Key, Value>(map: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = map.get(key)
  if (values) values.add(value)
  else map.set(key, new Set([value]))
}
