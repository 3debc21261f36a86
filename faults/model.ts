import { Register, type Write } from './register.ts'

/** A post or a comment. Its text is unique, which identifies it before its id is known. */
export interface Item {
  readonly author: string
  readonly text: string
  /** The global id. Undefined until the creation is acknowledged or a list shows the item. */
  id: string | undefined
  readonly live: Register
}

export interface Post extends Item {
  /** By user. */
  readonly likes: Map<string, Register>
  readonly shares: Map<string, Register>
  /** By text. */
  readonly comments: Map<string, Item>
}

export interface User {
  readonly handle: string
  readonly live: Register
  readonly follows: Map<string, Register>
  readonly mutes: Map<string, Register>
  readonly blocks: Map<string, Register>
  readonly posts: Map<string, Post>
  /** All comments of the user. */
  readonly comments: Item[]
}

/** Whether a user, post or comment certainly exists now. */
export function isAlive({ live }: { readonly live: Register }): boolean {
  const now = performance.now()
  return live.certainValue(now, now) === true
}

/** Returns the register of a key. Creates it on first use. */
export function getRegister(registers: Map<string, Register>, key: string): Register {
  const register = registers.get(key) ?? new Register()
  registers.set(key, register)
  return register
}

/** The expected data, from the acknowledged operations. */
export class Model {
  readonly users = new Map<string, User>()
  /** All posts by text. */
  readonly posts = new Map<string, Post>()

  addUser(handle: string): User {
    const user: User = {
      handle,
      live: new Register(),
      follows: new Map(),
      mutes: new Map(),
      blocks: new Map(),
      posts: new Map(),
      comments: [],
    }
    this.users.set(handle, user)
    return user
  }

  addPost(author: User, text: string): Post {
    const post: Post = {
      author: author.handle,
      text,
      id: undefined,
      live: new Register(),
      likes: new Map(),
      shares: new Map(),
      comments: new Map(),
    }
    author.posts.set(text, post)
    this.posts.set(text, post)
    return post
  }

  /**
   * Whether a post was readable during the whole period: the post and its author exist.
   * @returns undefined if both answers are possible.
   */
  isLive(post: Post, fromMs: number, toMs: number): boolean | undefined {
    const author = this.users.get(post.author)?.live.certainValue(fromMs, toMs)
    return and(post.live.certainValue(fromMs, toMs), author)
  }

  /**
   * Whether law L1 demanded the posts of `author` in the timeline of `reader` during the whole
   * period.
   * @returns undefined if both answers are possible.
   */
  isAuthorVisible(reader: User, author: User, fromMs: number, toMs: number): boolean | undefined {
    const certainValue = (registers: Map<string, Register>, key: string) =>
      registers.get(key)?.certainValue(fromMs, toMs) ?? (registers.has(key) ? undefined : false)
    if (reader === author) return author.live.certainValue(fromMs, toMs)
    return [
      author.live.certainValue(fromMs, toMs),
      certainValue(reader.follows, author.handle),
      not(certainValue(reader.mutes, author.handle)),
      not(certainValue(reader.blocks, author.handle)),
      not(certainValue(author.blocks, reader.handle)),
    ].reduce(and)
  }
}

/** Begins one write in several registers, and ends it in all with the same outcome. */
export class Writes {
  private readonly pending: { readonly register: Register; readonly write: Write }[] = []

  constructor(private readonly startMs: number) {}

  begin(register: Register, value: boolean): this {
    this.pending.push({ register, write: register.beginWrite(value, this.startMs) })
    return this
  }

  end(outcome: 'acknowledged' | 'refused' | 'unknown', endMs: number): void {
    for (const { register, write } of this.pending) {
      if (outcome === 'acknowledged') register.acknowledgeWrite(write, endMs)
      else if (outcome === 'refused') register.discardWrite(write)
      else register.abandonWrite(write, endMs)
    }
  }
}

type Ternary = boolean | undefined

const not = (value: Ternary): Ternary => (value === undefined ? undefined : !value)

/** Ternary AND: false if one operand is false, otherwise undefined if one operand is unknown. */
const and = (a: Ternary, b: Ternary): Ternary =>
  a === false || b === false ? false : a === undefined || b === undefined ? undefined : true
