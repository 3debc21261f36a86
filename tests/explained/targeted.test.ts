import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BSON, type Document } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { TimeId } from '../../src/lib/ids.ts'
import { broadcastSources, broadcasts } from '../support/broadcasts.ts'
import { routingProblems } from '../support/routing.ts'
import { size } from '../support/seed.ts'
import { type Shape, shapesFolder } from './statements/shapes.ts'

/** Edges in one collection cannot be sharded, so those databases are left out. */
const shapes: Shape[] = existsSync(shapesFolder)
  ? readdirSync(shapesFolder)
      .map((file) => BSON.EJSON.parse(readFileSync(join(shapesFolder, file), 'utf8')) as Shape)
      .filter(({ waits }) => waits === undefined)
      .filter(({ following }) => following === 'collection')
  : []

const found = shapes.flatMap(({ from, statement, inTransaction }) =>
  routingProblems({ statement, inTransaction }).map((problem) => ({
    ...problem,
    from,
    command: Object.keys(statement)[0] as string,
  })),
)

test('no command of the suite is refused by a sharded cluster of MongoDB 6.0', () => {
  expect(found.filter(({ kind }) => kind === 'refused')).toEqual([])
})

test('every command of a request or a job names its shards, or is a listed broadcast', () => {
  const unlisted = found.filter(
    ({ kind, from, command, collection }) =>
      kind === 'broadcast' &&
      !broadcastSources.some((source) => from.startsWith(source.from)) &&
      !broadcasts.some(
        (row) =>
          from.startsWith(row.from) && row.command === command && row.collection === collection,
      ),
  )
  expect(unlisted).toEqual([])
})

// `npm test` leaves out the files that send some of them.
test.skipIf(size === 'small')('every listed broadcast is sent by the suite', () => {
  const unused = broadcasts.filter(
    (row) =>
      !found.some(
        ({ from, command, collection }) =>
          from.startsWith(row.from) && row.command === command && row.collection === collection,
      ),
  )
  expect(unused).toEqual([])
  const silent = broadcastSources.filter(
    (source) => !found.some(({ from }) => from.startsWith(source.from)),
  )
  expect(silent).toEqual([])
})

describe('the check of shard keys', () => {
  const id = toObjectId('0'.repeat(24) as TimeId)
  const join = (match: Document) => ({
    $lookup: { from: 'posts', pipeline: [{ $match: match }], as: 'x' },
  })
  const documents = { $documents: [{}] }
  const known: Record<string, [Document, string | undefined, boolean?]> = {
    'a find by the first field of the key': [
      { find: 'posts', filter: { author: 'ann' } },
      undefined,
    ],
    'a find without the key': [{ find: 'posts', filter: { _id: id } }, 'broadcast'],
    'a find of which one alternative lacks the key': [
      { find: 'posts', filter: { $or: [{ author: 'ann' }, { _id: id }] } },
      'broadcast',
    ],
    'a range over all handles': [{ find: 'users', filter: { _id: { $gt: 'ann' } } }, 'broadcast'],
    "a range within one reader's inbox": [
      {
        find: 'inbox',
        filter: { _id: { $gte: { reader: 'ann', post: 0 }, $lt: { reader: 'ann', post: 9 } } },
      },
      undefined,
    ],
    'a range over several inboxes': [
      {
        find: 'inbox',
        filter: { _id: { $gte: { reader: 'ann', post: 0 }, $lt: { reader: 'ben', post: 9 } } },
      },
      'broadcast',
    ],
    'a range of a hashed key': [
      { find: 'overflow', filter: { '_id.post': { $gt: id } } },
      'broadcast',
    ],
    'a whole id that contains the key': [
      {
        update: 'overflow',
        updates: [{ q: { _id: { post: id, kind: 'likes', level: 0 } }, u: {} }],
      },
      undefined,
    ],
    'an insert without the key': [{ insert: 'posts', documents: [{ _id: id }] }, 'refused'],
    'an upsert with a part of the key': [
      { update: 'posts', updates: [{ q: { author: 'ann' }, u: {}, upsert: true }] },
      'refused',
    ],
    'a deletion of one document without the key': [
      { delete: 'posts', deletes: [{ q: { text: 'x' }, limit: 1 }] },
      'refused',
    ],
    'findAndModify with a part of the key': [
      { findAndModify: 'posts', query: { author: 'ann' } },
      'refused',
    ],
    'a join by the key': [
      { aggregate: 1, pipeline: [documents, join({ author: 'ann' })] },
      undefined,
    ],
    'a join without the key': [
      { aggregate: 1, pipeline: [documents, join({ _id: id })] },
      'broadcast',
    ],
    'a join within a join': [
      {
        aggregate: 1,
        pipeline: [
          documents,
          { $lookup: { from: 'meta', pipeline: [join({ _id: id })], as: 'y' } },
        ],
      },
      'broadcast',
    ],
    'a join in a transaction': [
      { aggregate: 1, pipeline: [documents, join({ author: 'ann' })] },
      'refused',
      true,
    ],
  }
  test.each(Object.entries(known))('%s', (_, [statement, kind, inTransaction = false]) => {
    expect(routingProblems({ statement, inTransaction })[0]?.kind).toBe(kind)
  })
})
