import { createHash } from 'node:crypto'
import type { Collections, RepairDoc } from '../db/collections.ts'
import { lowestId, toObjectId } from '../db/object-id.ts'
import { batches, chunks } from '../lib/batch.ts'
import type { EdgeId, PostId } from '../lib/ids.ts'
import { mendAccounts } from './accounts.ts'
import type { Difference, Looked } from './differences.ts'
import { Ledger } from './ledger.ts'
import { Looks } from './looks.ts'
import { type Mended, Mender, type MendParts } from './mend.ts'
import { Pace } from './pace.ts'
import { type HeldRun, nothing, type Position, Runs, type Tally } from './runs.ts'
import { edgeStretches, sidesOf } from './sides.ts'
import { handleRanges, within } from './walk.ts'

/** What is reconciled, and through what. */
export interface ReconcileServices extends MendParts {
  readonly collections: Collections
}

/** How a run is made. */
export interface ReconcileOptions {
  /** Whose counters, and those of their posts. */
  readonly users: 'all' | readonly string[]
  /** Changes nothing, and tells what would be. */
  readonly dryRun: boolean
  /** Documents and index keys that are counted a second at most. Undefined: as many as it can. */
  readonly perSecond?: number | undefined
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined
  /** Ends the run between two steps; another of the same question goes on from there. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined
}

export interface ReconcileProgress {
  readonly part: 'edges' | 'users' | 'posts'
  readonly done: number
  /** An estimate. */
  readonly total: number
}

/** What a run came to. */
export interface Reconciled {
  /** Undefined for a dry run, of which nothing is kept. */
  readonly run: string | undefined
  readonly tally: Tally
  /** Who was off, by how much, the most first: at most {@link worstMax}. */
  readonly worst: readonly Worst[]
}

/** Somebody, or a post, that was off. */
export interface Worst extends Pick<RepairDoc, 'kind' | 'by' | 'counted' | 'size'> {
  readonly id: string
  /** How many of its edges did not agree with their history. */
  readonly mended: number
}

export const worstMax = 100

const [rangesAtOnce, edgesAtOnce, usersAtOnce, postsAtOnce] = [2, 20_000, 500, 1_000]
const repairsAtOnce = 32
/** How often one is looked at again who was changed by another repair since. */
const looksMax = 3

/**
 * Makes counters equal what they count (law L3, seed 3), by difference, beside any traffic. For one stretch of users
 * after the other: edges are mended from their history; counters and edges are read from one snapshot; each
 * difference is added in a transaction that keeps a record of it, unless somebody else repaired the same since; then
 * all that was off is looked at again. Posts and what they count follow. Holds a stretch at a time, whatever the size.
 * @throws {DomainError} CONFLICT when another process takes the run over; UNAVAILABLE.
 */
export async function reconcile(
  services: ReconcileServices,
  options: ReconcileOptions,
): Promise<Reconciled> {
  const { users, dryRun, now = Date.now } = options
  const runs = new Runs(services.collections.reconciliations)
  const asked = users === 'all' ? 'all' : hashOf([...users].sort().join())
  const run = dryRun ? undefined : await runs.open(asked, now())
  const work = new Reconciliation(services, options, run, runs)
  try {
    return await work.run()
  } catch (error) {
    if (run) await runs.release(run)
    throw error
  }
}

class Reconciliation {
  private readonly mender: Mender
  private readonly ledger: Ledger
  private readonly pace: Pace
  private readonly looks: Looks
  private readonly mended = new Map<string, number>()
  private worst: Worst[] = []
  private at: Position

  constructor(
    private readonly services: ReconcileServices,
    private readonly options: ReconcileOptions,
    private readonly held: HeldRun | undefined,
    private readonly runs: Runs,
  ) {
    const { collections, transactions } = services
    this.mender = new Mender(services)
    this.ledger = new Ledger(collections, transactions, options.now ?? Date.now)
    this.pace = new Pace(options.perSecond)
    this.looks = new Looks(services, () => this.add({ renewed: 1 }))
    this.at = held ?? { part: 'edges', after: '', tally: nothing }
  }

  async run(): Promise<Reconciled> {
    if (this.at.part === 'edges') await this.allEdges()
    if (this.at.part === 'users') await this.allUsers()
    await this.allPosts()
    await this.keep({ part: 'posts', after: this.at.after }, true)
    return { run: this.held?.id, tally: this.at.tally, worst: await this.worstOf() }
  }

  /** Both sides of all edges, where all users are asked for. */
  private async allEdges(): Promise<void> {
    const { users, dryRun, signal } = this.options
    const { followers, following } = sidesOf(this.services.edges)
    if (users === 'all' && following) {
      const total = await followers.estimatedDocumentCount()
      const from = this.at.after === '' ? lowestId : toObjectId(this.at.after as EdgeId)
      let done = 0
      for await (const some of batches(edgeStretches(followers, edgesAtOnce, from), rangesAtOnce)) {
        const touched = new Set<string>()
        const before = this.at.tally.documents
        const onRead = (documents: number) => this.add({ documents })
        const mend = async ({ ids }: { ids: object }) => {
          for await (const pair of this.mender.mendSides(ids, dryRun, onRead)) {
            this.noteMended(pair, touched)
          }
        }
        await Promise.all(some.map(mend))
        await this.pace.spend(this.at.tally.documents - before, signal)
        await this.keep({ part: 'edges', after: some.at(-1)?.upTo.toHexString() ?? '' })
        done = Math.min(total, done + edgesAtOnce * some.length)
        this.options.onProgress?.({ part: 'edges', done, total })
      }
    }
    await this.keep({ part: 'users', after: '' })
  }

  private async allUsers(): Promise<void> {
    const { users } = this.services.collections
    const listed = this.options.users
    const total = listed === 'all' ? await users.estimatedDocumentCount() : listed.length
    for await (const some of batches(this.stretches(), rangesAtOnce)) {
      await Promise.all(some.map(({ handles }) => this.users(handles)))
      await this.keep({ part: 'users', after: some.at(-1)?.upTo ?? this.at.after })
      this.options.onProgress?.({ part: 'users', done: this.at.tally.users, total })
    }
    await this.keep({ part: 'posts', after: '' })
  }

  /** Users in the order of their handles, some at a time, from where the run stands. */
  private async *stretches(): AsyncGenerator<{ handles: object; upTo: string }> {
    const { users } = this.options
    const { after } = this.at
    if (users === 'all') {
      const all = this.services.collections.users
      for await (const range of handleRanges(all, usersAtOnce, after)) {
        yield { handles: within(range), upTo: range.upTo ?? '\uffff' }
      }
      return
    }
    const left = [...new Set(users)].sort().filter((handle) => handle > after)
    for (const some of chunks(left, usersAtOnce)) {
      yield { handles: { $in: some }, upTo: some.at(-1) ?? '' }
    }
  }

  private async users(handles: object): Promise<void> {
    const { dryRun, signal } = this.options
    const touched = new Set<string>()
    const listed = this.options.users !== 'all'
    for await (const pair of this.mender.mend(handles, listed, dryRun)) {
      this.noteMended(pair, touched)
    }
    let looked = await this.looks.usersWithin(handles)
    const { torn, gone } = looked
    for (const handle of gone) {
      for await (const pair of this.mender.clear(handle, dryRun)) this.noteMended(pair, touched)
    }
    this.add({ users: looked.checked, accounts: torn.length })
    if (torn.length > 0 && !dryRun) {
      const { collections, transactions } = this.services
      await mendAccounts(collections, transactions, torn)
    }
    if (torn.length + touched.size > 0 && !dryRun) looked = await this.looks.usersWithin(handles)
    await this.repair(looked, (ids) => this.looks.users({ $in: ids }))
    await this.pace.spend(looked.documents, signal)
    if (dryRun) return
    // Whoever stands at the other end of an edge that was mended may have been looked at before.
    for (const ids of chunks([...touched], usersAtOnce)) {
      await this.repair(await this.looks.users({ $in: ids }), (some) =>
        this.looks.users({ $in: some }),
      )
    }
  }

  private async allPosts(): Promise<void> {
    const { users } = this.options
    const total = await this.services.collections.posts.estimatedDocumentCount()
    if (users === 'all') return this.posts({}, this.at.after, total)
    for (const author of [...new Set(users)].sort()) await this.posts({ author }, '', total)
  }

  private async posts(which: object, from: string, total: number): Promise<void> {
    let after = from === '' ? lowestId : toObjectId(from as PostId)
    for (;;) {
      const looked = await this.looks.posts({ ...which, _id: { $gt: after } }, postsAtOnce)
      this.add({ posts: looked.checked })
      await this.repair(looked, (ids) => {
        const some = looked.off.filter(({ id }) => ids.includes(id))
        const keys = some.map(({ author, id }) => ({ author, _id: toObjectId(id as PostId) }))
        return this.looks.posts({ $or: keys }, postsAtOnce)
      })
      await this.pace.spend(looked.documents, this.options.signal)
      if (looked.last) after = looked.last
      await this.keep({ part: 'posts', after: after.toHexString() })
      this.options.onProgress?.({ part: 'posts', done: this.at.tally.posts, total })
      if (!looked.last) return
    }
  }

  /** Applies what a look found, and looks again until nothing of it is off. */
  private async repair(
    first: Looked,
    look: (ids: readonly string[]) => Promise<Looked>,
  ): Promise<void> {
    this.add({ documents: first.documents, off: first.off.length })
    for (const one of first.off) this.note(one)
    if (!this.held) return
    let off = first.off
    for (let looks = 0; off.length > 0 && looks < looksMax; looks++) {
      for (const some of chunks(off, repairsAtOnce)) {
        const applied = await this.ledger.apply(
          this.held.id,
          some,
          (id) => this.mended.get(id) ?? 0,
        )
        this.add({ repaired: applied.length })
      }
      off = (await look(off.map(({ id }) => id))).off
    }
    this.add({ remaining: off.length })
  }

  private async keep(to: Omit<Position, 'tally'>, done = false): Promise<void> {
    this.options.signal?.throwIfAborted()
    this.at = { ...to, tally: this.at.tally }
    if (this.held) await this.runs.save(this.held, this.at, done)
  }

  private add(more: Partial<Tally>): void {
    const tally: Record<string, number> = { ...this.at.tally }
    for (const [name, count] of Object.entries(more)) tally[name] = (tally[name] ?? 0) + count
    this.at = { ...this.at, tally: tally as unknown as Tally }
  }

  private noteMended({ follower, followee, how }: Mended, touched: Set<string>): void {
    this.add(how === 'BUSY' ? { remaining: 1 } : { mended: 1 })
    touched.add(follower).add(followee)
    for (const end of [follower, followee]) this.mended.set(end, (this.mended.get(end) ?? 0) + 1)
  }

  private note({ kind, id, by, counted }: Difference): void {
    const size = Math.max(...Object.values(by).map(Math.abs))
    const mended = this.mended.get(id) ?? 0
    this.worst.push({ kind, id, by, counted, size, mended })
    if (this.worst.length < 2 * worstMax) return
    this.worst = largest(this.worst)
  }

  /** Of a run that was cut off, the record tells what an earlier process found. */
  private async worstOf(): Promise<readonly Worst[]> {
    if (!this.held) return largest(this.worst)
    const { repairs } = this.services.collections
    const found = await repairs
      .find({ '_id.run': this.held.id })
      .sort({ size: -1 })
      .limit(worstMax)
      .toArray()
    return found.map(({ _id, kind, by, counted, size, mended = 0 }) => {
      return { id: _id.id, kind, by, counted, size, mended }
    })
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

const largest = (some: readonly Worst[]) =>
  [...some].sort((a, b) => b.size - a.size).slice(0, worstMax)
