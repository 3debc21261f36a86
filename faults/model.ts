import { Register, type Write } from './register.ts'

/** A post or a comment: its text is unique, so that it is recognised before its id is known. */
export interface Item {
  readonly author: string
  readonly text: string
  /** The global id; known once the creation was acknowledged or the item was seen. */
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
  /** Those that the user wrote, under any post. */
  readonly comments: Item[]
}

/** Whether a user, post or comment certainly exists now. */
export function isAlive({ live }: { readonly live: Register }): boolean {
  const now = performance.now()
  return live.certain(now, now) === true
}

/** The register of a key, made on first use. */
export function registerIn(registers: Map<string, Register>, key: string): Register {
  const register = registers.get(key) ?? new Register()
  registers.set(key, register)
  return register
}

/** What must exist, by the operations that were acknowledged. */
export class Model {
  readonly users = new Map<string, User>()
  /** Every post by its text. */
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

  /** A post is readable while its author lives: whether both are certain at every moment of a stretch of time. */
  isLive(post: Post, fromMs: number, toMs: number): boolean | undefined {
    const author = this.users.get(post.author)?.live.certain(fromMs, toMs)
    return both(post.live.certain(fromMs, toMs), author)
  }

  /** Whether the posts of `author` belong in the timeline of `reader` at every moment of a stretch of time (law L1). */
  isShown(reader: User, author: User, fromMs: number, toMs: number): boolean | undefined {
    const certain = (registers: Map<string, Register>, key: string) =>
      registers.get(key)?.certain(fromMs, toMs) ?? (registers.has(key) ? undefined : false)
    if (reader === author) return author.live.certain(fromMs, toMs)
    return [
      author.live.certain(fromMs, toMs),
      certain(reader.follows, author.handle),
      not(certain(reader.mutes, author.handle)),
      not(certain(reader.blocks, author.handle)),
      not(certain(author.blocks, reader.handle)),
    ].reduce(both)
  }
}

/** Begins one write in several registers, and ends all of them alike. */
export class Writes {
  private readonly pending: { readonly register: Register; readonly write: Write }[] = []

  constructor(private readonly startMs: number) {}

  begin(register: Register, value: boolean): this {
    this.pending.push({ register, write: register.begin(value, this.startMs) })
    return this
  }

  end(outcome: 'acknowledged' | 'refused' | 'unknown', endMs: number): void {
    for (const { register, write } of this.pending) {
      if (outcome === 'acknowledged') register.acknowledge(write, endMs)
      else if (outcome === 'refused') register.refuse(write)
      else register.giveUp(write, endMs)
    }
  }
}

type Maybe = boolean | undefined

const not = (one: Maybe): Maybe => (one === undefined ? undefined : !one)

/** False beats what is not known. */
const both = (one: Maybe, other: Maybe): Maybe =>
  one === false || other === false
    ? false
    : one === undefined || other === undefined
      ? undefined
      : true
