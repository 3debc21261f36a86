import { Memory, type MemoryBounds } from '../db/memory.ts'
import type { PostRef } from '../lib/ids.ts'
import type { KeptAccount } from '../users/kept-accounts.ts'
import type { Post } from './post.ts'

interface Entry {
  readonly post: Post
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
  get({ id, author: handle }: PostRef, author: KeptAccount): Post | undefined {
    const entry = this.entries.get(id)
    const isCurrent = entry?.author === author && entry.post.author === handle
    this.entries.countRead(isCurrent)
    return isCurrent ? entry.post : undefined
  }

  /** Keeps a post that was read after the versions under which the account of its author is current. */
  keep(post: Post, author: KeptAccount): void {
    this.entries.set(post.id, { post, author })
  }
}

const bytesOf = ({ post }: Entry): number =>
  700 + 2 * post.text.length + 300 * (post.attachments.length + (post.facets?.length ?? 0))
