import { ObjectId } from 'mongodb'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { openServices } from '../database.ts'
import { drive } from '../drive.ts'
import { userAt } from './ours.ts'
import { seedAddLike } from './rivals.ts'

// One of several processes that like one post: URI, database, way, post, author, first user, clients, milliseconds.
const [uri = '', name = '', way = '', post = '', author = '', first, clients, ms] =
  process.argv.slice(2)
const { client, db, services } = await openServices(uri, name)
const seed = seedAddLike(client, db)
const target = { id: post as PostId, author: author as UserId }
const userOf = (at: number) => userAt(Number(first) + at)
await client.db('admin').command({ ping: 1 })
process.send?.('ready')
await new Promise((resolve) => process.once('message', resolve))
const load = await drive(Number(clients), Number(ms), (_, at) =>
  way === 'seed'
    ? seed.like(ObjectId.createFromHexString(post), userOf(at))
    : services.engagements.add('likes', userOf(at), target),
)
process.send?.(load.perSecond)
await client.close()
process.disconnect?.()
