import { test } from 'vitest'
import { handle, openAccounts, useServices } from '../support/services.ts'

const h = useServices()
test('x', async () => {
  const { services } = h
  await openAccounts(services, [handle('a1'), handle('b1')])
  const slow: string[] = []
  for (let i = 0; i < 60; i++) {
    const t0 = performance.now()
    if (i % 4 === 0) await services.posts.create(handle('b1'), { text: `x${i}` } as never)
    if (i % 8 === 1) await services.follows.follow(handle('a1'), handle('b1'))
    if (i % 8 === 5) await services.follows.unfollow(handle('a1'), handle('b1'))
    const t1 = performance.now()
    const c = await services.memory.isCurrent()
    const t2 = performance.now()
    const p = await services.feed.timeline(handle('a1'), {
      window: { limit: 5, backward: false },
      projection: 'content',
      strategy: 'FANOUT_ON_READ',
    })
    const t3 = performance.now()
    slow.push(
      [i, c, (t1 - t0).toFixed(0), (t2 - t1).toFixed(0), (t3 - t2).toFixed(0), p.items.length].join(
        ' ',
      ),
    )
  }
  console.log(slow.join('\n'))
}, 100_000)
