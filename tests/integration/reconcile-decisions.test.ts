import { describe, expect, test } from 'vitest'
import { reconcile } from '../../src/integrity/run.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const [ann, ben, cem, dan] = ['ann', 'ben', 'cem', 'dan'].map(handle) as [
  never,
  never,
  never,
  never,
]

describe('a malformed document', () => {
  const harness = useServices()

  test('that may be the history of an edge leaves the edge to a person', async () => {
    const { services } = harness
    const { collections } = services
    await openAccounts(services, [ann, ben, cem, dan])
    await services.follows.follow(ann, ben)
    await services.follows.follow(cem, dan)
    await collections.following.deleteOne({ user: ann })
    await collections.follow_events.updateOne({ user: cem }, { $set: { type: 7 as never } })
    const report = await reconcile(services, { readers: 0 })
    expect(report).toMatchObject({
      repaired: 1, // the counter of followees, which counts what is stored
      sample: [
        { kind: 'shape' },
        { kind: 'sides', subject: 'ann>ben', unrepairable: expect.stringContaining('may be') },
        { kind: 'following', repaired: true },
      ],
    })
    await collections.follow_events.updateOne({ user: cem }, { $set: { type: 'FOLLOWED' } })
    expect(await reconcile(services, { readers: 0 })).toMatchObject({ unrepairable: 0 })
    expect(await collections.following.countDocuments({ user: ann })).toBe(1)
  })
})
