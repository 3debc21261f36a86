import { describe, expect, test } from 'vitest'
import type { Tx } from '../../src/db/transaction.ts'
import { Restrictions, type RestrictionsParts } from '../../src/follows/restrictions.ts'
import { IdMint, type UserId } from '../../src/lib/ids.ts'
import { persist } from '../support/eventually.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const groupsMax = 100

describe.each(['collection', 'reverse-index'] as const)('following by %s', (following) => {
  const harness = useServices(following)

  test('concurrent changes of groups keep the limit of groups', async () => {
    const { follows } = harness.services
    const ann = handle('g-ann')
    // Two more than the limit.
    const others = Array.from({ length: 12 }, (_, n) => handle(`g-${n}`))
    await openAccounts(harness.services, [ann, ...others])
    for (const other of others) await follows.follow(ann, other)
    const names = (n: number) => Array.from({ length: 10 }, (_, at) => `group ${n} ${at}`)
    const set = await Promise.allSettled(
      others.map((other, n) => persist(() => follows.setGroups(ann, other, names(n)))),
    )
    const refused = set.filter((one) => one.status === 'rejected')
    expect(await follows.groupsOf(ann)).toHaveLength(groupsMax)
    expect(refused).toHaveLength(others.length - groupsMax / 10)
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        code: 'BAD_USER_INPUT',
        message: expect.stringMatching('100'),
      })
    }
  })

  test('the groups of a user are distinct and sorted, without groups of other users', async () => {
    const { follows } = harness.services
    const [ann, ben, cat] = [handle('n-ann'), handle('n-ben'), handle('n-cat')]
    await openAccounts(harness.services, [ann, ben, cat])
    for (const [from, to] of [
      [ann, ben],
      [ann, cat],
      [ben, cat],
    ] as const) {
      await follows.follow(from, to)
    }
    await follows.setGroups(ann, ben, ['work', 'close'])
    await follows.setGroups(ann, cat, ['work', 'art'])
    await follows.setGroups(ben, cat, ['other'])
    expect(await follows.groupsOf(ann)).toEqual(['art', 'close', 'work'])
    await follows.setGroups(ann, cat, [])
    expect(await follows.groupsOf(ann)).toEqual(['close', 'work'])
    expect(await follows.groupsOf(cat)).toEqual([])
  })

  test('a mute during the deletion of its owner does not survive the purge', async () => {
    const { services } = harness
    const [ann, ben] = [handle('m-ann'), handle('m-ben')]
    await openAccounts(services, [ann, ben])
    const { collections, edges, stats, outbox, transactions } = services
    const leave = async () => {
      await services.users.delete(ann)
      await harness.rest()
    }
    const mint = new IdMint(harness.clock.now)
    const parts = { collections, edges, stats, outbox, transactions, mint }
    const muting = new Interrupted(leave, parts).mute(ann, ben)
    await expect(muting).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await collections.restrictions.countDocuments({ owner: ann })).toBe(0)
  })

  test('many users mute the same user concurrently, and the user must exist', async () => {
    const { restrictions } = harness.services
    const loud = handle('l-loud')
    const many = Array.from({ length: 20 }, (_, n) => handle(`l-${n}`))
    await openAccounts(harness.services, [loud, ...many])
    const muted = await Promise.all(many.map((one) => restrictions.mute(one, loud)))
    expect(muted).toEqual(many.map(() => true))
    const absent = restrictions.mute(loud, handle('l-nobody'))
    await expect(absent).rejects.toThrow('There is no such user')
  })
})

/** Runs a function once, right after a transaction’s first read. */
class Interrupted extends Restrictions {
  private happened = false

  constructor(
    private readonly interrupt: () => Promise<unknown>,
    parts: RestrictionsParts,
  ) {
    super(parts)
  }

  override async restrictionsFor(owner: UserId, others: readonly UserId[], tx?: Tx) {
    const found = await super.restrictionsFor(owner, others, tx)
    if (!this.happened) {
      this.happened = true
      await this.interrupt()
    }
    return found
  }
}
