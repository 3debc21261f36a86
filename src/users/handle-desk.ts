import type { Collections, FormerHandle, UserDoc } from '../db/collections.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Handle, UserId } from '../lib/ids.ts'
import { keptBeside } from './former-handles.ts'
import type { Handles } from './handles.ts'
import type { ReservedNames } from './names.ts'

/** The account that has or keeps a handle. */
interface Holder {
  readonly account: string
  /** Its present handle. */
  readonly handle: string
  /** Until when it keeps the handle that it gave up. Null: the handle is its present one. */
  readonly until: Date | null
  readonly isDeleted: boolean
}

/** What is stored about a handle. */
export interface HandleState {
  readonly handle: string
  /** Whether only an operator can give it to an account. */
  readonly isReserved: boolean
  /** Null: no account has or keeps it. */
  readonly holder: Holder | null
}

/** An account that got another handle. */
interface Renamed {
  readonly account: string
  readonly from: string
  readonly to: string
  /** Until when the account keeps the handle before. Null: it does not. */
  readonly keptUntil: Date | null
}

/** What an operator changed. */
export interface HandleChange {
  readonly changed: boolean
  readonly before: HandleState
  readonly after: HandleState
  readonly renamed: readonly Renamed[]
}

/** How an operator moves a handle. */
export interface MoveOptions {
  /** What the account that has the handle gets for it. */
  readonly renameTo?: Handle | undefined
  /** Reads and decides, and writes nothing. */
  readonly dryRun: boolean
}

/** The parts that {@link HandleDesk} works with. */
interface HandleDeskParts {
  readonly collections: Pick<Collections, 'handles' | 'users'>
  readonly transactions: Transactions
  readonly handles: Handles
  readonly reserved: ReservedNames
  readonly handleReservedDays: number
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** A change of the handles of one account, or of the account of a handle. */
type Write = (tx: Tx) => Promise<unknown>

/** A change, with the writes that make it. */
interface Plan extends HandleChange {
  readonly writes: readonly Write[]
}

const dayMs = 86_400_000

/**
 * What operators do with handles. Each change is one transaction, which collides with renames and
 * deletions of the same accounts. The next read shows it.
 */
export class HandleDesk {
  constructor(private readonly parts: HandleDeskParts) {}

  /**
   * Who has or keeps a handle. Up to three commands.
   * @throws {DomainError} CONFLICT if the document of the handle or of its account is malformed or
   *   lost.
   */
  async show(handle: Handle, tx?: Tx): Promise<HandleState> {
    const { collections, reserved, now } = this.parts
    const doc = await collections.handles.findOne({ _id: handle }, { ...tx })
    if (doc && !conforms(shapes.handles, doc)) throw isDamaged(handle)
    const isFree = !doc || (doc.until && doc.until.getTime() <= now())
    const user = isFree ? null : await this.read(doc.account as UserId, tx)
    if (!isFree && !user) throw isDamaged(handle)
    const holder = user && {
      ...{ account: user._id, handle: user.handle, until: doc?.until ?? null },
      isDeleted: user.deletedAt !== undefined,
    }
    return { handle, isReserved: reserved.hasHandle(handle), holder }
  }

  /**
   * Frees a handle that an account keeps. One transaction of up to five commands.
   * @throws {DomainError} CONFLICT for the present handle of an account, and for one of a deleted
   *   account.
   */
  async free(handle: Handle, dryRun: boolean): Promise<HandleChange> {
    return this.run(dryRun, async (tx) => {
      const before = await this.show(handle, tx)
      const { holder } = before
      const after = { ...before, holder: null }
      if (!holder) return { changed: false, before, after, renamed: [], writes: [] }
      mustBeLive(before)
      if (holder.until === null) throw isPresent(before, 'Move it to another account instead')
      const writes = [this.forgetFormer(holder.account, handle), this.release(handle)]
      return { changed: true, before, after, renamed: [], writes }
    })
  }

  /**
   * Makes a handle, also a reserved one, the present handle of an account, which keeps the handle
   * before. An account that kept it does not keep it any more. One transaction of up to fourteen
   * commands.
   * @throws {DomainError} NOT_FOUND without the account; CONFLICT for the present handle of another
   *   account without `renameTo`, for a `renameTo` that it cannot take, for the handle of a deleted
   *   account, and if the account keeps too many handles.
   */
  async move(handle: Handle, to: UserId, { renameTo, dryRun }: MoveOptions): Promise<HandleChange> {
    return this.run(dryRun, async (tx) => {
      const before = await this.show(handle, tx)
      const target = await this.read(to, tx)
      if (!target || target.deletedAt)
        throw new DomainError('NOT_FOUND', `There is no account ${to}`)
      const after = { ...before, holder: holderOf(to, handle) }
      if (target.handle === handle) {
        if (before.holder?.account !== to) throw isDamaged(handle)
        return { changed: false, before, after, renamed: [], writes: [] }
      }
      mustBeLive(before)
      const other = before.holder?.account === to ? null : before.holder
      const isPresentOfOther = other?.until === null
      if (!isPresentOfOther && renameTo !== undefined)
        throw new DomainError('CONFLICT', `No other account has the handle "${handle}" now`)
      const freed = isPresentOfOther
        ? await this.planOther(tx, before, other, renameTo)
        : { renamed: [], writes: other ? [this.forgetFormer(other.account, handle)] : [] }
      const taken = this.planTarget(target, handle)
      return {
        ...{ changed: true, before, after, renamed: [...taken.renamed, ...freed.renamed] },
        writes: [...freed.writes, ...taken.writes],
      }
    })
  }

  /** The present handle of another account is taken from it, so it gets another one. */
  private async planOther(
    tx: Tx,
    before: HandleState,
    { account }: Holder,
    renameTo: Handle | undefined,
  ) {
    if (renameTo === undefined)
      throw isPresent(before, 'Name another handle for this account with --rename-to')
    const { handles, now } = this.parts
    const claim = { handle: renameTo, account: account as UserId }
    const refusal = (await handles.findRefusals(tx, [claim])).get(renameTo)
    if (refusal || renameTo === before.handle)
      throw new DomainError('CONFLICT', `The handle "${renameTo}" is not free`)
    const user = await this.read(account as UserId, tx)
    const { kept } = keptBeside(user ?? {}, renameTo, now())
    const renamed = [{ account, from: before.handle, to: renameTo, keptUntil: null }]
    return { renamed, writes: [this.setHandle(account, renameTo, kept), this.give(claim)] }
  }

  private planTarget(target: UserDoc, handle: Handle) {
    const { handleReservedDays, handles, now } = this.parts
    const { kept, refusal } = keptBeside(target, handle, now())
    if (refusal)
      throw new DomainError(
        'CONFLICT',
        `The account ${target._id} keeps too many handles. Free one`,
      )
    const account = target._id as UserId
    const from = target.handle as Handle
    const keptUntil = new Date(now() + handleReservedDays * dayMs)
    const writes: Write[] = [
      this.setHandle(account, handle, [...kept, { handle: from, until: keptUntil }]),
      this.give({ handle, account }),
      (tx) => handles.reserve(tx, from, account, keptUntil),
    ]
    return { renamed: [{ account, from, to: handle, keptUntil }], writes }
  }

  /** Null without an account. @throws {DomainError} CONFLICT if its document is malformed. */
  private async read(account: UserId, tx: Tx | undefined): Promise<UserDoc | null> {
    const doc = await this.parts.collections.users.findOne({ _id: account }, { ...tx })
    if (doc && !conforms(shapes.users, doc)) throw isDamaged(account)
    return doc
  }

  private give(claim: { readonly handle: Handle; readonly account: UserId }): Write {
    return (tx) => this.parts.handles.give(tx, [claim])
  }

  private release(handle: Handle): Write {
    return ({ session }) => this.parts.collections.handles.deleteOne({ _id: handle }, { session })
  }

  private setHandle(
    account: string,
    handle: Handle,
    formerHandles: readonly FormerHandle[],
  ): Write {
    return ({ session }) =>
      this.parts.collections.users.updateOne(
        { _id: account },
        { $set: { handle, formerHandles: [...formerHandles] } },
        { session },
      )
  }

  private forgetFormer(account: string, handle: Handle): Write {
    return ({ session }) =>
      this.parts.collections.users.updateOne(
        { _id: account },
        { $pull: { formerHandles: { handle } } },
        { session },
      )
  }

  private run(dryRun: boolean, plan: (tx: Tx) => Promise<Plan>): Promise<HandleChange> {
    return this.parts.transactions.run(async (tx) => {
      const { writes, ...change } = await plan(tx)
      if (!dryRun) for (const write of writes) await write(tx)
      return change
    })
  }
}

const holderOf = (account: string, handle: string): Holder => ({
  ...{ account, handle, until: null, isDeleted: false },
})

const isDamaged = (name: string): DomainError =>
  new DomainError('CONFLICT', `What is stored of ${name} is damaged: run "feedline verify"`)

function mustBeLive({ handle, holder }: HandleState): void {
  if (!holder?.isDeleted) return
  const reason = `The deleted account ${holder.account}, which had "${handle}", is still being removed`
  throw new DomainError('CONFLICT', `${reason}. Try again later.`)
}

const isPresent = ({ handle, holder }: HandleState, next: string): DomainError =>
  new DomainError(
    'CONFLICT',
    `"${handle}" is the present handle of the account ${holder?.account}. ${next}.`,
  )
