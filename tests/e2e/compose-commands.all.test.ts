import { beforeAll, expect, test } from 'vitest'
import { type EdgeId, IdMint } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_MAINTAINED: 'INBOX' })
const authors = Array.from({ length: 16 }, (_, n) => handle(`author${n}`))
const followers = Array.from({ length: 40 }, (_, n) => handle(`reader${n}`))
const [author] = authors
const query =
  'mutation ($text: String!) { createPost(input: { text: $text }) { post { id text } } }'
/** Sends a post of an author. */
const post = (as: string | undefined, text: string) => app.send({ as, query, variables: { text } })

beforeAll(async () => {
  const { services } = app
  await openAccounts(services, [...authors, ...followers])
  const mint = new IdMint(Date.now)
  const edges = authors.flatMap((followee) =>
    followers.map((follower) => {
      return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
    }),
  )
  await storeEdges(services, edges)
  const { user_stats } = services.collections
  await user_stats.updateMany({ _id: { $in: authors } }, { $set: { followers: followers.length } })
  await services.versions.isOn('deliveryInTransaction')
})

/** The transaction of a post, without its counters, and what follows the commit. */
const published = ['commitTransaction', 'insert posts', 'update outbox']
const delivered = ['insert inbox', 'read followers', 'update versions']
/** What posts of 50 ms share. */
const settled = ['delete outbox', 'read strategies']

test('a post to 40 followers is written and delivered by seven commands, and two end its job', async () => {
  const { result, commands } = await recorded(app.database.client, () => post(author, 'alone'))
  expect(result.data.createPost.post.text).toBe('alone')
  expect(labelsOf(commands)).toEqual(
    [...published, ...delivered, 'findAndModify user_stats'].sort(),
  )
  const rest = await recorded(app.database.client, () => app.services.inline.settle())
  expect(labelsOf(rest.commands)).toEqual(settled)
})

test('sixteen posts of different authors at once are written and delivered by eight commands, and two end their jobs', async () => {
  const { inbox } = app.services.collections
  const before = await inbox.countDocuments()
  const { commands } = await recorded(app.database.client, async () => {
    await Promise.all(authors.map((one) => app.services.posts.create(one, { text: 'together' })))
    await app.services.inline.settle()
  })
  expect(labelsOf(commands)).toEqual(
    [...published, ...delivered, ...settled, 'read user_stats', 'update user_stats'].sort(),
  )
  expect((await inbox.countDocuments()) - before).toBe(authors.length * (followers.length + 1))
})
