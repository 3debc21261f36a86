import { MongoClient } from 'mongodb'
import { openMongod } from '../../packages/mongod/open.ts'

// A program that opens the data folder it is given, says so in a line of JSON, and stays.
// SIGTERM: it just exits. SIGINT: it writes a document, gives the database back, then exits.
const [, , dataFolder = '', binFolder] = process.argv
const mongod = await openMongod({
  dataFolder,
  binFolder,
  log: () => {},
})
process.on('SIGTERM', () => process.exit(0))
process.on('SIGINT', async () => {
  const client = await new MongoClient(mongod.uri).connect()
  await client.db('test').collection('last').insertOne({ words: 'bye' })
  await client.close()
  await mongod.stop()
  process.exit(0)
})
console.log(JSON.stringify({ uri: mongod.uri, joined: mongod.joined }))
setInterval(() => {}, 60_000)
