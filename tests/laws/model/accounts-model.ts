import type { PostId, UserId } from '../../../src/lib/ids.ts'
import { Model, type Outcome } from './model.ts'

/** How long a removed account keeps its subject, in milliseconds. */
export const subjectHeldMs = 60_000
/** How many handles an account keeps after it gave them up. */
const formerMax = 5

/** An account that was created at some time. */
interface Account {
  readonly id: UserId
  readonly subject: string
  handle: string
  readonly name: string
  former: readonly { readonly handle: string; readonly until: number }[]
  /** Leaving: deleted, while it keeps its handles. */
  state: 'live' | 'leaving' | 'gone'
  removedMs: number
  /** The inputs and results of mutations, by their clientMutationId. */
  readonly results: Map<string, { readonly input: string; readonly id: string }>
}

interface ModelPost {
  readonly id: PostId
  readonly author: UserId
  readonly text: string
  /** The handles as they were written, and their accounts at that time. */
  readonly mentions: readonly { readonly handle: string; readonly mentioned: UserId | undefined }[]
}

/** A post, before it is published. */
interface NewPost {
  readonly id: PostId
  readonly subject: string
  readonly text: string
  readonly handles: readonly string[]
}

const keptIn = ({ former }: Account, now: number) => former.filter(({ until }) => until > now)

/**
 * What a mutation must answer, or what of the first one with the same clientMutationId, null if
 * that was deleted.
 */
type Verdict = Outcome | { readonly repeats: string | null }

/** A user as a viewer sees it. */
export interface UserView {
  readonly id: UserId
  readonly handle: string
  readonly name: string
}

/** A post as a viewer sees it. */
export interface PostView {
  readonly id: PostId
  readonly text: string
  readonly author: UserView | null
  readonly facets: readonly {
    readonly handle: string
    readonly user: Omit<UserView, 'name'> | null
  }[]
}

/**
 * A simple in-memory model of laws L1 and L6 for accounts: who has a handle and a subject, and
 * which accounts a text mentions. All else belongs to the id of an account. Times are in
 * milliseconds.
 */
export class AccountsModel {
  readonly relations = new Model()
  readonly accounts: Account[] = []
  readonly posts: ModelPost[] = []

  /** @param reservedMs how long an account keeps a handle that it gave up. */
  constructor(private readonly reservedMs: number) {}

  /** The account of a subject, also a deleted one that keeps its handles. */
  accountOf(subject: string): Account | undefined {
    return this.accounts.find((account) => account.subject === subject && account.state !== 'gone')
  }

  /**
   * What servers know a subject as. They remember a removed account for as long as it keeps the
   * subject.
   */
  actorOf(subject: string, now: number): UserId {
    const account = this.accountOf(subject) ?? this.lastOf(subject, now)
    return account?.id ?? (`~${subject}` as UserId)
  }

  /** A removed account that keeps its subject. */
  private lastOf(subject: string, now: number): Account | undefined {
    return this.accounts.find(
      (account) => account.subject === subject && account.removedMs + subjectHeldMs > now,
    )
  }

  /** The account that has a handle, also a deleted one that keeps its handles. */
  private ownerOf(handle: string): Account | undefined {
    return this.accounts.find((account) => account.handle === handle && account.state !== 'gone')
  }

  /** The account that has a handle, or keeps it: links and mentions lead to it. */
  holderOf(handle: string, now: number): Account | undefined {
    const keeps = ({ former, state }: Account) =>
      state !== 'gone' && former.some((kept) => kept.handle === handle && kept.until > now)
    return this.ownerOf(handle) ?? this.accounts.find(keeps)
  }

  /** An account that keeps the most handles can take none but these. */
  isAvailable(subject: string | undefined, handle: string, now: number): boolean {
    const holder = this.holderOf(handle, now)
    if (holder) return holder.subject === subject && holder.state === 'live'
    const own = subject === undefined ? undefined : this.accountOf(subject)
    return own?.state !== 'live' || keptIn(own, now).length < formerMax
  }

  /** Whether, and as whose repeat, a subject may register. */
  judgeRegistration(subject: string, handle: string, key: string | undefined, now: number) {
    const own = this.accountOf(subject)
    const repeated = own && this.judgeRepeat(own, key, handle)
    if (repeated) return repeated
    const before = own ?? this.lastOf(subject, now)
    return before || this.holderOf(handle, now) ? 'CONFLICT' : 'changed'
  }

  register(
    id: UserId,
    subject: string,
    { handle, name }: Omit<UserView, 'id'>,
    key?: string,
  ): void {
    const results = new Map(key === undefined ? [] : [[key, { input: handle, id }]])
    const state = { state: 'live' as const, removedMs: Number.NEGATIVE_INFINITY }
    this.accounts.push({ id, subject, handle, name, former: [], ...state, results })
    this.relations.createUser(id)
  }

  rename(subject: string, handle: string, now: number): Outcome {
    const account = this.accountOf(subject)
    if (account?.state !== 'live') return 'NOT_FOUND'
    if (account.handle === handle) return 'changed'
    const kept = keptIn(account, now).filter((one) => one.handle !== handle)
    const holder = this.holderOf(handle, now)
    if (kept.length >= formerMax || (holder && holder !== account)) return 'CONFLICT'
    account.former = [...kept, { handle: account.handle, until: now + this.reservedMs }]
    account.handle = handle
    return 'changed'
  }

  /** Deletes the account of a subject, with all that belongs to it. It keeps its handles. */
  remove(subject: string): Outcome {
    const account = this.accountOf(subject)
    if (account?.state !== 'live') return 'unchanged'
    account.state = 'leaving'
    this.relations.deleteUser(account.id)
    this.relations.removeOwn(account.id)
    return 'changed'
  }

  /** Ends deleted accounts. */
  purge(now: number): void {
    for (const account of this.accounts.filter(({ state }) => state === 'leaving')) {
      this.relations.purged(account.id)
      Object.assign(account, { state: 'gone', removedMs: now })
    }
  }

  judgePost(subject: string, text: string, key: string | undefined): Verdict {
    const account = this.accountOf(subject)
    const repeated = account && this.judgeRepeat(account, key, text)
    return repeated ?? (account?.state === 'live' ? 'changed' : 'NOT_FOUND')
  }

  post({ id, subject, text, handles }: NewPost, now: number, key?: string): void {
    const account = this.accountOf(subject)
    if (!account) throw new Error(`${subject} has no account`)
    const author = account.id
    const mentions = handles.map((handle) => ({
      handle,
      mentioned: this.holderOf(handle, now)?.id,
    }))
    this.posts.push({ id, author, text, mentions })
    this.relations.post(author, id)
    if (key !== undefined) account.results.set(key, { input: text, id })
  }

  private judgeRepeat({ results, state }: Account, key = '', input: string): Verdict | undefined {
    const first = results.get(key)
    if (!first) return undefined
    return first.input === input ? { repeats: state === 'live' ? first.id : null } : 'CONFLICT'
  }

  /** A user as a viewer sees it. Null without an account. */
  viewUser(viewer: UserId, id: UserId | undefined): UserView | null {
    const account = this.accounts.find((one) => one.id === id)
    if (account?.state !== 'live') return null
    const { handle, name } = account
    return {
      id: account.id,
      handle,
      name: this.relations.blocked(viewer, account.id) ? handle : name,
    }
  }

  /** A post as a viewer sees it. Null if its author is deleted, or a block hides it. */
  viewPost(viewer: UserId, id: PostId): PostView | null {
    const post = this.posts.find((one) => one.id === id)
    const author = this.viewUser(viewer, post?.author)
    if (!post || !author || this.relations.blocked(viewer, author.id)) return null
    const facets = post.mentions.map(({ handle, mentioned }) => {
      const user = this.viewUser(viewer, mentioned)
      const isShown = user && !this.relations.blocked(viewer, user.id)
      return { handle, user: isShown ? { id: user.id, handle: user.handle } : null }
    })
    return { id, text: post.text, author, facets }
  }

  /** Law L1: the posts of a timeline, newest first. */
  timeline(viewer: UserId, group?: string): PostView[] {
    const shown = this.relations.timeline(viewer, group)
    return shown.flatMap((id) => this.viewPost(viewer, id) ?? [])
  }
}
