import { Memory, type MemoryBounds } from '../db/memory.ts'
import type { PostRef } from '../lib/ids.ts'
import type { KeptAccount } from '../users/kept-accounts.ts'
import type { Post } from './post.ts'

/** The number of renderings of a post that are kept. */
const renderingsMax = 4

interface Entry {
  readonly post: Post
  /** Its texts in answers, by the names of what rendered them. An object as a key would keep all that it refers to. */
  readonly renderings: Map<string, readonly string[]>
  /** The account of the author when the post was read. A deletion of one of its posts changes it. */
  readonly author: KeptAccount
}

/**
 * The content of posts in memory, for all readers together. A post is current while the account of its author is the
 * same. Its counts are those of no particular time.
 */
export class KeptPosts {
  private readonly entries: Memory<Entry>

  constructor(bounds: Pick<MemoryBounds<Entry>, 'bytesMax' | 'keptMsMax'>) {
    this.entries = new Memory({ ...bounds, name: 'posts', bytesOf })
  }

  /** A post of an author. Undefined if it is not in memory, or was deleted. @param author as it is now. */
  get({ id, author: user }: PostRef, author: KeptAccount): Post | undefined {
    const entry = this.entries.get(id)
    const isCurrent = entry?.author === author && entry.post.author === user
    this.entries.countRead(isCurrent)
    return isCurrent ? entry.post : undefined
  }

  /** Keeps a post that was read after the versions under which the account of its author is current. */
  keep(post: Post, author: KeptAccount): void {
    this.entries.set(post.id, { post, author, renderings: new Map() })
  }

  /**
   * The texts of a post in an answer, which are kept with the post if it is in memory.
   * @param by names what renders them: the same name renders the same texts.
   */
  renderOnce(
    ref: PostRef,
    author: KeptAccount,
    by: string,
    render: () => readonly string[],
  ): readonly string[] {
    const entry = this.entries.get(ref.id)
    if (entry?.author !== author) return render()
    const known = entry.renderings.get(by)
    if (known) return known
    const rendered = render()
    const [oldest] = entry.renderings.keys()
    if (oldest !== undefined && entry.renderings.size >= renderingsMax)
      entry.renderings.delete(oldest)
    entry.renderings.set(by, rendered)
    // For its size.
    this.entries.set(ref.id, entry)
    return rendered
  }
}

function bytesOf({ post, renderings }: Entry): number {
  const { text, attachments, facets = [] } = post
  const rendered = [...renderings]
    .flatMap(([by, texts]) => [by, ...texts])
    .reduce((sum, one) => sum + 2 * one.length + 50, 0)
  return 800 + 2 * text.length + 300 * (attachments.length + facets.length) + rendered
}
