import { connect } from '../../../src/db/client.ts'
import { openCollections } from '../../../src/db/collections.ts'

// A program that changes an account's counters in a transaction, prints a line, and keeps the
// transaction open.
const [, , uri = '', name = '', handle = ''] = process.argv
const client = await connect(uri)
const session = client.startSession()
session.startTransaction()
const { user_stats } = openCollections(client.db(name))
await user_stats.updateOne({ _id: handle }, { $inc: { guard: 1 } }, { session })
console.log('open')
setInterval(() => {}, 60_000)
