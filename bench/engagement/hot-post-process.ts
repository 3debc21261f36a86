import { ObjectId } from 'mongodb'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { openServices } from '../database.ts'
import { runClosedLoop } from '../load.ts'
import { likePost, userAt } from './feedline.ts'
import { embeddedLike } from './rivals.ts'

// One of several processes that like one post.
// Arguments: URI, database, implementation, post, author, first account, clients, milliseconds.
const [uri = '', name = '', implementation = '', post = '', author = '', first, clients, ms] =
  process.argv.slice(2)
const { client, db, services } = await openServices(uri, name)
const embedded = embeddedLike(client, db)
const target = { id: post as PostId, author: author as UserId }
const userOf = (at: number) => userAt(Number(first) + at)
await client.db('admin').command({ ping: 1 })
process.send?.('ready')
await new Promise((resolve) => process.once('message', resolve))
const load = await runClosedLoop(Number(clients), Number(ms), (_, at) =>
  implementation === 'embedded'
    ? embedded.like(ObjectId.createFromHexString(post), userOf(at))
    : likePost(services, userOf(at), target),
)
process.send?.(load.perSecond)
await client.close()
process.disconnect?.()
