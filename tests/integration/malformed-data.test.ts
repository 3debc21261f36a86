import type { Document } from 'mongodb'
import { expect, test } from 'vitest'
import { isMalformedData } from '../../src/db/errors.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()

/** What the code does with stored values, and a value that MongoDB cannot do it with. */
const reads: readonly (readonly [string, Document])[] = [
  ['$size', { $size: '$text' }],
  ['$filter', { $filter: { input: '$text', cond: true } }],
  ['$map', { $map: { input: '$text', in: 1 } }],
  ['$in', { $in: [1, '$text'] }],
  ['$slice', { $slice: ['$text', 1] }],
  ['$reverseArray', { $reverseArray: '$text' }],
  ['$concatArrays', { $concatArrays: ['$text', []] }],
  ['$setIntersection', { $setIntersection: ['$text', []] }],
  ['$setUnion', { $setUnion: ['$text', []] }],
  ['$setDifference', { $setDifference: ['$text', []] }],
  ['$sortArray', { $sortArray: { input: '$text', sortBy: 1 } }],
  ['$first', { $first: '$number' }],
  ['$last', { $last: '$number' }],
  ['$add', { $add: ['$text', 1] }],
  ['$subtract', { $subtract: ['$text', 1] }],
  ['$multiply', { $multiply: ['$text', 2] }],
  ['$mergeObjects', { $mergeObjects: ['$text'] }],
  ['$bsonSize', { $bsonSize: '$text' }],
  ['$toObjectId', { $toObjectId: '$text' }],
  ['$toObjectId of a number', { $toObjectId: '$number' }],
]

const updates: readonly (readonly [string, Document])[] = [
  ['$inc', { $inc: { text: 1 } }],
  ['$set', { $set: { 'text.count': 1 } }],
]

test.each([
  ...reads.map(([name, value]) => [name, [{ $project: { value } }]] as const),
  ['$replaceRoot', [{ $replaceRoot: { newRoot: '$text' } }]] as const,
  ['$subtract of a date', [{ $project: { value: { $subtract: ['$$NOW', '$text'] } } }]] as const,
])('%s of a stored value of another type is malformed data', async (_, pipeline) => {
  const documents = database.db.collection('documents')
  await documents.deleteMany({})
  await documents.insertOne({ text: 'a', number: 1 })
  const error = await documents
    .aggregate([...pipeline])
    .toArray()
    .catch((thrown) => thrown)
  expect(isMalformedData(error)).toBe(true)
})

test.each(updates)('%s of a stored value of another type is malformed data', async (_, update) => {
  const documents = database.db.collection('documents')
  await documents.deleteMany({})
  await documents.insertOne({ text: 'a' })
  const error = await documents.updateOne({}, update).catch((thrown) => thrown)
  expect(isMalformedData(error)).toBe(true)
})

test.each([
  ['an unknown operator', [{ $project: { value: { $unknown: 1 } } }]],
  ['an unknown stage', [{ $unknown: 1 }]],
  ['a stage without its arguments', [{ $project: {} }]],
])('%s of a command is a defect, not malformed data', async (_, pipeline) => {
  const documents = database.db.collection('documents')
  const error = await documents
    .aggregate(pipeline)
    .toArray()
    .catch((thrown) => thrown)
  expect(error).toHaveProperty('code')
  expect(isMalformedData(error)).toBe(false)
})
