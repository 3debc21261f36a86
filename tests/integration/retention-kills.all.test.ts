import { beforeAll, describe, expect, test } from 'vitest'
import type { StrategyDoc } from '../../src/db/collections.ts'
import { fromObjectId, lowestId, toObjectId } from '../../src/db/object-id.ts'
import type { Tx } from '../../src/db/transaction.ts'
import type { FloorParts } from '../../src/feed/strategies/floor-parts.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import { type EdgeId, IdMint, type PostId, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { effects, Killed, killedAtWrite } from '../support/faulty.ts'
import { handle, openAccounts, servicesOver, storeOf, useServices } from '../support/services.ts'

/** A private step of a trim. */
interface TrimSteps {
  raiseAndRemove(found: ReadonlyMap<UserId, PostId>, registration: StrategyDoc): Promise<void>
}

const [reader, author] = [handle('reader'), handle('author')]
const kept = 8
const engagement = sameLimits({ threshold: 3, capacity: 2 })
const feed = { maintained: ['INBOX'] as MaterialisedName[], inboxEntriesMax: kept }

describe('a trim that is killed at any of its writes', () => {
  const harness = useServices('collection', engagement, feed)
  const post = async (mint: IdMint) => {
    const id = mint.next<PostId>()
    await harness.services.collections.posts.insertOne({ _id: toObjectId(id), author, text: '' })
    return { id, author }
  }

  /** Delivers posts by processes that die at each write. Then counts the pages of INBOX with gaps. */
  async function countGaps(mutate: (services: Services) => void): Promise<number> {
    const { services, database, clock } = harness
    const mint = new IdMint(clock.now)
    let gaps = 0
    for (const [at, effect] of [0, 1, 2, 3, 4, 5].flatMap((n) =>
      effects.map((how) => [n, how] as const),
    )) {
      const entry = await post(mint)
      const { db, ended } = killedAtWrite(database.db, at, effect)
      const { client } = database
      const other = servicesOver({ client, db }, clock, engagement, 'collection', feed)
      mutate(other)
      const store = await storeOf(other, 'INBOX')
      await store.deliver(entry, [reader]).catch((error) => {
        if (!(error instanceof Killed)) throw error
      })
      await ended()
      // Without the post that may be undelivered. Pages in both directions, from cursors around the floor.
      const read = async (strategy: 'INBOX' | 'FANOUT_ON_READ', before?: PostId) => {
        const window = { limit: 100, backward: before !== undefined, before }
        const page = await services.feed.timeline(reader, { window, strategy, projection: 'ref' })
        return page.items.map(({ post }) => post.id).filter((id) => id !== entry.id)
      }
      const all = await read('FANOUT_ON_READ')
      if ((await read('INBOX')).join() !== all.join()) gaps++
      for (const cursor of all.slice(kept - 2, kept + 2)) {
        const newer = all.filter((id) => id > cursor)
        if ((await read('INBOX', cursor)).join() !== newer.join()) gaps++
      }
      await (await storeOf(services, 'INBOX')).deliver(entry, [reader])
    }
    return gaps
  }

  beforeAll(async () => {
    const { edges, transactions } = harness.services
    const mint = new IdMint(harness.clock.now)
    await openAccounts(harness.services, [reader, author])
    const edge = { follower: reader, followee: author, source: 'FEEDLINE' as const }
    await transactions.run((tx) => edges.insert(tx, [{ id: mint.next<EdgeId>(), ...edge }]))
    const store = await storeOf(harness.services, 'INBOX')
    for (let n = 0; n < kept; n++) await store.deliver(await post(mint), [reader])
  })

  test('leaves no page with a gap', async () => {
    expect(await countGaps(() => {})).toBe(0)
  })

  test('leaves a gap if the floor is one post too low', async () => {
    const gaps = await countGaps(({ strategies: { INBOX } }) => {
      const { store } = (INBOX.floors as unknown as { parts: FloorParts }).parts
      const { raiseAndRemove } = INBOX.floors as unknown as TrimSteps
      let right: ReadonlyMap<UserId, PostId> = new Map()
      const { removeBelow } = store
      Object.assign(store, {
        removeBelow: (_: unknown, ...more: [StrategyDoc, Tx]) =>
          removeBelow.call(store, right, ...more),
      })
      const raiseLess = async (found: typeof right, registration: StrategyDoc) => {
        right = found
        const removed = await harness.services.collections.posts
          .find({ _id: { $lt: toObjectId(found.get(reader) as PostId) } })
          .sort({ _id: -1 })
          .limit(2)
          .toArray()
        const lower = fromObjectId<PostId>(removed[1]?._id ?? lowestId)
        return raiseAndRemove.call(INBOX.floors, new Map([[reader, lower]]), registration)
      }
      Object.assign(INBOX.floors as object, { raiseAndRemove: raiseLess })
    })
    expect(gaps).toBeGreaterThan(0)
  })

  test('leaves a gap if entries are removed before the floor rises', async () => {
    const gaps = await countGaps(({ strategies: { INBOX }, collections }) => {
      const { store } = (INBOX.floors as unknown as { parts: FloorParts }).parts
      const alive = (harness.services.strategies.INBOX.floors as unknown as { parts: FloorParts })
        .parts
      const raiseAndRemove = async (
        found: ReadonlyMap<UserId, PostId>,
        registration: StrategyDoc,
      ): Promise<void> => {
        await alive.transactions.run((tx) => store.removeBelow(found, registration, tx))
        for (const [_id, id] of found) {
          const raised = { $max: { floor: toObjectId(id) }, $set: { token: toObjectId(id) } }
          await collections.inbox_floors.updateOne({ _id }, raised, { upsert: true })
        }
      }
      Object.assign(INBOX.floors as object, { raiseAndRemove })
    })
    expect(gaps).toBeGreaterThan(0)
  })
})
