import { namesOf } from '../entities/leaves.ts'
import { postLeaves } from '../entities/post.ts'
import type { PostRef } from '../lib/ids.ts'
import { type Filling, KeptValues } from '../memory/kept-values.ts'
import type { ProcessMemory } from '../memory/process-memory.ts'
import type { KeptAccount } from '../users/kept-accounts.ts'
import type { Post } from './post.ts'

/** The number of renderings of a post that are kept. */
const renderingsMax = 4

/** A post in memory. */
interface KeptPost {
  readonly post: Post
  /**
   * Its texts in answers, by the names of what rendered them. An object as a key would keep all
   * that it refers to.
   */
  readonly renderings: Map<string, readonly string[]>
  /** The account of the author that the renderings show. */
  author: KeptAccount | undefined
}

/** A read of posts whose results are kept. */
export interface PostFilling extends Disposable {
  keep(post: Post): void
}

/**
 * The content of posts in memory, for all readers together. Their counts are those of no particular
 * time.
 */
export class KeptPosts {
  private readonly posts: KeptValues<KeptPost>

  constructor(parts: { readonly memory: ProcessMemory; readonly bytesMax: number }) {
    this.posts = new KeptValues({
      ...parts,
      name: 'posts',
      follows: ['posts'],
      changedBy: ({ key }) => String(key),
      bytesOf,
    })
  }

  /** A post of an author. Undefined if it is not in memory. */
  get({ id, author }: PostRef): Post | undefined {
    const post = this.posts.get(id)?.post
    return post?.author === author ? post : undefined
  }

  /** Call it before posts are read that may be kept. */
  beginFilling(): PostFilling {
    const filling: Filling<KeptPost> = this.posts.beginFilling()
    return {
      keep: (post) => filling.keep(post.id, { post, renderings: new Map(), author: undefined }),
      [Symbol.dispose]: () => filling[Symbol.dispose](),
    }
  }

  /**
   * The texts of a post in an answer, which are kept with the post if it is in memory.
   * @param author as it is now.
   * @param by names what renders them: the same name renders the same texts.
   */
  renderOnce(
    { id }: PostRef,
    author: KeptAccount,
    by: string,
    render: () => readonly string[],
  ): readonly string[] {
    const kept = this.posts.get(id)
    if (!kept) return render()
    if (kept.author !== author) kept.renderings.clear()
    kept.author = author
    const known = kept.renderings.get(by)
    if (known) return known
    const rendered = render()
    const [oldest] = kept.renderings.keys()
    if (oldest !== undefined && kept.renderings.size >= renderingsMax)
      kept.renderings.delete(oldest)
    kept.renderings.set(by, rendered)
    this.posts.resize(id, kept)
    return rendered
  }
}

const leafNames = namesOf(postLeaves)

function bytesOf({ post, renderings }: KeptPost): number {
  const { attachments, facets = [] } = post
  const characters = leafNames.reduce((sum, name) => sum + String(post[name] ?? '').length, 0)
  const rendered = [...renderings]
    .flatMap(([by, texts]) => [by, ...texts])
    .reduce((sum, one) => sum + 2 * one.length + 50, 0)
  return 800 + 2 * characters + 300 * (attachments.length + facets.length) + rendered
}
