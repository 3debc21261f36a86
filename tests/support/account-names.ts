import type { Collections } from '../../src/db/collections.ts'
import type { UserId } from '../../src/lib/ids.ts'

/** The accounts of a database by their handles. */
export interface AccountNames {
  /** @throws if no account has the handle. */
  readonly idOf: (handle: string) => UserId
  /** @throws if the account has no handle. */
  readonly handleOf: (id: string) => string
  /** Stored documents as sorted JSON texts, with the handle of each account in place of its id. */
  readonly inHandles: (docs: readonly object[]) => string[]
}

/** Reads which account has each handle now. */
export async function readAccountNames({
  handles,
}: Pick<Collections, 'handles'>): Promise<AccountNames> {
  const docs = await handles.find({ until: { $exists: false } }).toArray()
  const ids = new Map(docs.map(({ _id, account }) => [_id, account as UserId]))
  const names = new Map<unknown, string>(docs.map(({ _id, account }) => [account, _id]))
  const present = <T>(value: T | undefined, name: string): T => {
    if (value === undefined) throw new Error(`"${name}" names no account`)
    return value
  }
  return {
    idOf: (handle) => present(ids.get(handle), handle),
    handleOf: (id) => present(names.get(id), id),
    inHandles: (stored) =>
      stored.map((doc) => JSON.stringify(doc, (_, value) => names.get(value) ?? value)).sort(),
  }
}
