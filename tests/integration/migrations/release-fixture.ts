import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { BSON, type Db, type Document } from 'mongodb'
import type { FollowingMode } from '../../../src/config.ts'
import { inCurrentSchema } from './current-schema.ts'

/** What scripts/record-release.ts wrote with the build of an earlier release. */
export interface ReleaseFixture {
  readonly commit: string
  readonly databases: readonly RecordedDatabase[]
}

/** A database with waiting jobs, and what the build answered after it had run these jobs. */
export interface RecordedDatabase {
  readonly following: FollowingMode
  /** The environment variables of the build. */
  readonly env: Readonly<Record<string, string>>
  readonly collections: readonly RecordedCollection[]
  /** The texts of the queries, by name. */
  readonly queries: Readonly<Record<string, string>>
  readonly answers: readonly RecordedAnswer[]
  /** Repeats of mutations with a clientMutationId. */
  readonly repeats: readonly RecordedAnswer[]
}

export interface RecordedCollection {
  readonly name: string
  readonly options: Document
  readonly indexes: readonly Document[]
  readonly documents: readonly Document[]
}

export interface RecordedAnswer {
  /** The handle of the viewer. */
  readonly as: string
  readonly query: string
  readonly variables: object
  readonly data: unknown
}

/** Reads the fixture of a commit, with operations and answers in the words of the current schema. */
export async function readFixture(commit: string): Promise<ReleaseFixture> {
  const packed = await readFile(join(import.meta.dirname, `../../fixtures/${commit}.json.gz`))
  const fixture: ReleaseFixture = BSON.EJSON.parse((await promisify(gunzip)(packed)).toString())
  return { ...fixture, databases: fixture.databases.map(inCurrentSchema) }
}

/** Equal for all databases of a test file, so that their contents can be compared. */
const today = new Date()

/**
 * Stores a recorded database as the earlier release left it. Only the dates of its idempotency records are moved to
 * the present: MongoDB would remove older ones.
 */
export async function restore(db: Db, { collections }: RecordedDatabase): Promise<void> {
  const all = collections.map(async ({ name, options, indexes, documents }) => {
    await db.createCollection(name, options)
    const present = name === 'mutations' ? { at: today } : {}
    const stored = documents.map((document) => ({ ...document, ...present }))
    if (stored.length > 0) await db.collection<Document>(name).insertMany(stored)
    if (indexes.length > 0) await db.command({ createIndexes: name, indexes })
  })
  await Promise.all(all)
}

/** All that a database holds, but for the record of a migration in progress. */
export async function contents(db: Db): Promise<Readonly<Record<string, Contents>>> {
  const listed: Document[] = await db.listCollections().toArray()
  const collections = listed.filter(({ name }) => name !== 'system.views')
  const all = collections.map(async ({ name, type, options }) => {
    const collection = db.collection<{ _id: unknown }>(name)
    const found = await collection.find().sort({ _id: 1 }).toArray()
    const documents = found.filter(({ _id }) => _id !== 'migration')
    const indexes = type === 'view' ? [] : await collection.indexes()
    return [name, { type, options, documents, indexes: indexes.map((one) => one.name).sort() }]
  })
  return Object.fromEntries(await Promise.all(all))
}
interface Contents {
  readonly type: string
  readonly options: Document
  readonly documents: readonly Document[]
  readonly indexes: readonly (string | undefined)[]
}
