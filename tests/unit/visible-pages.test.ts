import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadVisiblePages, type PersonalLists } from '../../src/graphql/visible-pages.ts'
import { type TimeId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import { pageFrom, type Range, rangeOf, type Window } from '../../src/lib/page.ts'
import { lawSeed } from '../support/seed.ts'

interface Item {
  readonly id: TimeId
  readonly person: UserId
}

const idAt = (n: number): TimeId => timeIdAt(1_000 + n, '0'.repeat(12))

/** Lists of items by persons, newest first. Counts the reads and the items that they return. */
class Lists implements PersonalLists<string, Item> {
  reads = 0
  itemsMax = 0

  constructor(
    private readonly items: ReadonlyMap<string, readonly Item[]>,
    private readonly hidden: ReadonlySet<UserId>,
  ) {}

  readonly nameOf = (owner: string) => owner
  readonly personOf = ({ person }: Item) => person
  readonly hiddenAmong = async (users: readonly UserId[]) =>
    new Set(users.filter((user) => this.hidden.has(user)))

  readonly read = async (owners: readonly string[], window: Window) => {
    this.reads++
    return new Map(
      owners.map((owner) => {
        const inRange = (range: Range) => rangeFrom(this.items.get(owner) ?? [], range)
        const page = pageFrom(
          window,
          inRange(rangeOf(window)),
          async (range) => inRange(range).length > 0,
        )
        this.itemsMax = Math.max(this.itemsMax, page.items.length)
        return [owner, page]
      }),
    )
  }

  /** The page of a list that never held the hidden items. */
  expected(owner: string, window: Window) {
    const shown = (this.items.get(owner) ?? []).filter(({ person }) => !this.hidden.has(person))
    return pageFrom(
      window,
      rangeFrom(shown, rangeOf(window)),
      async (range) => rangeFrom(shown, range).length > 0,
    )
  }
}

function rangeFrom(items: readonly Item[], { olderThan, newerThan, oldestFirst, limit }: Range) {
  const inside = items.filter(
    ({ id }) =>
      (olderThan === undefined || id < olderThan) && (newerThan === undefined || id > newerThan),
  )
  return (oldestFirst ? inside.toReversed() : inside).slice(0, limit)
}

const listOf = (isHidden: readonly boolean[]): Item[] =>
  isHidden
    .map((hides, n): Item => ({ id: idAt(n), person: (hides ? 'hidden' : 'shown') as UserId }))
    .reverse()

async function expectSamePages(lists: Lists, owners: readonly string[], window: Window) {
  const pages = await loadVisiblePages(lists, owners, window)
  for (const owner of owners) {
    const [page, expected] = [pages.get(owner), lists.expected(owner, window)]
    expect(page?.items).toEqual(expected.items)
    expect(await page?.hasNextPage()).toBe(await expected.hasNextPage())
    expect(await page?.hasPreviousPage()).toBe(await expected.hasPreviousPage())
  }
}

const hidden = new Set(['hidden' as UserId])

test('a page without the items of hidden persons is the page of a list that never held them', async () => {
  const list = fc.array(fc.boolean(), { maxLength: 30 })
  const place = fc.option(fc.nat(30), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(
      fc.array(list, { minLength: 1, maxLength: 3 }),
      fc.record({ limit: fc.nat(5), backward: fc.boolean(), after: place, before: place }),
      async (all, { limit, backward, after, before }) => {
        const items = new Map(all.map((one, at) => [`owner${at}`, listOf(one)]))
        await expectSamePages(new Lists(items, hidden), [...items.keys()], {
          limit,
          backward,
          after: after === undefined ? undefined : idAt(after),
          before: before === undefined ? undefined : idAt(before),
        })
      },
    ),
    { numRuns: 300, ...lawSeed() },
  )
})

test('pages of many owners without hidden items cost one read', async () => {
  const items = new Map(['a', 'b', 'c'].map((owner) => [owner, listOf(Array(50).fill(false))]))
  const lists = new Lists(items, hidden)
  await loadVisiblePages(lists, [...items.keys()], { limit: 20, backward: false })
  expect(lists.reads).toBe(1)
})

test('pages of many owners with hidden items cost the reads of one page', async () => {
  const list = listOf([...Array(50).fill(false), ...Array(60).fill(true)])
  const readsOf = async (count: number) => {
    const items = new Map(Array.from({ length: count }, (_, n) => [`owner${n}`, list]))
    const lists = new Lists(items, hidden)
    await loadVisiblePages(lists, [...items.keys()], { limit: 20, backward: false })
    return lists.reads
  }
  expect(await readsOf(1)).toBe(3)
  expect(await readsOf(100)).toBe(3)
})

test('a page beyond thousands of hidden items is full, and no read returns more than 1,000 items', async () => {
  const items = new Map([['a', listOf([...Array(30).fill(false), ...Array(5_000).fill(true)])]])
  const lists = new Lists(items, hidden)
  await expectSamePages(lists, ['a'], { limit: 20, backward: false })
  expect(lists.itemsMax).toBe(1_000)
})
