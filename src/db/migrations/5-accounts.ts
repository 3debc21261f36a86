import type { Document } from 'mongodb'
import type { UserDoc } from '../../users/collections.ts'
import { createCollection } from '../indexes.ts'
import type { Migration, Step } from './migration.ts'
import { guard } from './steps.ts'

/** What the previous release inserts has no handle. Its changes of stored accounts are taken. */
const namedAccounts: Document = {
  $or: [{ handle: { $exists: true } }, { deletedAt: { $exists: true } }],
}

/** The previous release opens no account any more: it would have neither a handle nor a subject. */
const refuseAccounts: Step = {
  async plan({ db }) {
    const [users] = await db.listCollections({ name: 'users' }, { nameOnly: false }).toArray()
    const isGuarded = users && 'options' in users && users.options?.validator !== undefined
    return isGuarded ? [] : ['Refuse accounts without a handle in users.']
  },
  async run({ db }) {
    await guard(db, 'users', namedAccounts, 'moderate')
  },
}

/** The collections that name accounts, and the key of an account of an earlier release in each. */
const names = { handles: '$_id', subjects: { $concat: [' ', '$_id'] } } as const

/** The accounts of earlier releases that a collection does not name. */
const unnamed = (name: keyof typeof names): Document[] => [
  { $match: { handle: { $exists: false } } satisfies Partial<Record<keyof UserDoc, unknown>> },
  { $project: { _id: names[name], account: '$_id' } },
  { $lookup: { from: name, localField: '_id', foreignField: '_id', as: 'stored' } },
  { $match: { stored: [] } },
  { $unset: 'stored' },
]

/** An account of an earlier release keeps its handle as its id. So no edge, post or entry changes. */
const nameAccounts: Step = {
  async plan({ db }) {
    const changes: string[] = []
    for (const name of Object.keys(names) as (keyof typeof names)[]) {
      const [first] = await db
        .collection('users')
        .aggregate([...unnamed(name), { $limit: 1 }])
        .toArray()
      if (first) changes.push(`Store the ${name} of all accounts in ${name}.`)
    }
    return changes
  },
  async run({ db, signal }) {
    for (const name of Object.keys(names) as (keyof typeof names)[]) {
      signal.throwIfAborted()
      await createCollection(db, name)
      const into = { $merge: { into: name, whenMatched: 'keepExisting' } }
      await db
        .collection('users')
        .aggregate([...unnamed(name), into])
        .toArray()
    }
  },
}

/** Handles and subjects name accounts, which have ids of their own. */
export const accounts: Migration = {
  name: 'accounts have a handle and a subject',
  steps: [refuseAccounts, nameAccounts],
}
