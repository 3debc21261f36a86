import { expect, test } from 'vitest'
import { createCollection } from '../../src/db/indexes.ts'
import { failCommand, useDatabase } from '../support/mongo.ts'

const database = useDatabase()

async function optionsOf(name: string) {
  const [collection] = await database.db.listCollections({ name }).toArray()
  return (collection as { readonly options?: object } | undefined)?.options
}

test('the inbox has small pages, because each entry of a post rewrites the page of another reader', async () => {
  expect(await optionsOf('inbox')).toMatchObject({
    clusteredIndex: { key: { _id: 1 }, unique: true },
    storageEngine: { wiredTiger: { configString: 'leaf_page_max=8KB,allocation_size=512B' } },
  })
})

test('where the size of pages is refused, the collection is clustered all the same', async () => {
  await using _refusing = await failCommand(database.client, {
    failCommands: ['create'],
    errorCode: 72,
    times: 1,
  })
  await createCollection(database.db, 'refused', true)
  const options = await optionsOf('refused')
  expect(options).toMatchObject({ clusteredIndex: { key: { _id: 1 }, unique: true } })
  expect(options).not.toHaveProperty('storageEngine')
  // A repeat finds it.
  await createCollection(database.db, 'refused', true)
})
