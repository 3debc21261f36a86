import { expect, test } from 'vitest'
import { hasTurn } from '../../src/feed/strategies/floor-parts.ts'
import { chunks } from '../../src/lib/batch.ts'
import { IdMint, type PostId } from '../../src/lib/ids.ts'
import { recorded } from '../support/mongo.ts'
import { handle, storeOf, useServices } from '../support/services.ts'

const kept = 400
const harness = useServices('collection', undefined, {
  ...{ maintained: ['INBOX'], inboxEntriesMax: kept },
})

test('fifty readers of a delivery have their turn of a trim together, so a delivery to 500 seldom trims', async () => {
  const author = handle('author')
  const readers = Array.from({ length: 500 }, (_, n) => handle(`reader-${n}`)).sort()
  const store = await storeOf(harness.services, 'INBOX')
  const mint = new IdMint(harness.clock.now)
  const posts = Array.from({ length: 20 }, () => mint.next<PostId>())
  const { commands } = await recorded(harness.database.client, async () => {
    for (const id of posts) await store.deliver({ id, author }, readers)
  })
  const trims = commands.filter((sent) => sent.name === 'aggregate' && sent.collection === 'inbox')
  const groups = posts.flatMap((id) => [...chunks(readers, 50)].map(([first]) => `${id}${first}`))
  expect(trims).toHaveLength(groups.filter((group) => hasTurn(group, kept / 8)).length)
  expect(trims.length).toBeLessThan(posts.length)
})
