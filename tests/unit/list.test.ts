import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PostId, type TimeId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { Range, Window } from '../../src/lib/page.ts'
import {
  type List,
  pageFrom,
  rangeOf,
  readPages,
  readRange,
  shownWithUser,
} from '../../src/pages/pipeline.ts'
import { Visibility } from '../../src/visibility/visibility.ts'
import { lawSeed } from '../support/seed.ts'

interface Item {
  readonly id: TimeId
  readonly person: UserId
}

const idAt = (n: number): TimeId => timeIdAt(1_000 + n, '0'.repeat(12))
const [viewer, blocked, shown] = ['viewer', 'blocked', 'shown'] as UserId[] as [
  UserId,
  UserId,
  UserId,
]

/** What a viewer with one block sees. */
const visibility = new Visibility(viewer, {
  live: async () => new Map(),
  followed: async () => new Set(),
  restrictions: async () => new Map([[blocked, new Set(['BLOCK'] as const)]]),
})

/** Lists of items by persons, newest first. Counts the reads, and the items that they return. */
class Lists implements List<UserId, Item, Item, ReadonlySet<UserId> | undefined> {
  readonly sizes: number[] = []
  itemsMax = 0

  constructor(private readonly items: ReadonlyMap<UserId, readonly Item[]>) {}

  readonly placeOf = ({ id }: Item) => id
  readonly loadFacts = byPerson.loadFacts
  readonly present = byPerson.present

  get owners() {
    return [...this.items.keys()]
  }

  async read(owners: readonly UserId[], range: Range, past?: ReadonlyMap<string, TimeId>) {
    this.sizes.push(range.limit)
    return new Map(
      owners.map((owner) => {
        const place = past?.get(owner)
        const bound = place && (range.oldestFirst ? { newerThan: place } : { olderThan: place })
        const items = rangeFrom(this.items.get(owner) ?? [], { ...range, ...bound })
        this.itemsMax = Math.max(this.itemsMax, items.length)
        return [owner, items]
      }),
    )
  }

  /** The page of a list that never held the hidden items. */
  expected(owner: UserId, window: Window) {
    const visible = (this.items.get(owner) ?? []).filter(({ person }) => person !== blocked)
    return pageFrom(
      window,
      rangeFrom(visible, rangeOf(window)),
      async (range) => rangeFrom(visible, range).length > 0,
    )
  }
}

const byPerson = shownWithUser('PERSON', ({ person }: Item) => person)

function rangeFrom(items: readonly Item[], { olderThan, newerThan, oldestFirst, limit }: Range) {
  const inside = items.filter(
    ({ id }) =>
      (olderThan === undefined || id < olderThan) && (newerThan === undefined || id > newerThan),
  )
  return (oldestFirst ? inside.toReversed() : inside).slice(0, limit)
}

const listOf = (isHidden: readonly boolean[]): Item[] =>
  isHidden.map((hides, n): Item => ({ id: idAt(n), person: hides ? blocked : shown })).reverse()

const listsOf = (...all: readonly (readonly boolean[])[]) =>
  new Lists(new Map(all.map((isHidden, n) => [`owner${n}` as UserId, listOf(isHidden)])))

async function expectSamePages(lists: Lists, window: Window) {
  const pages = await readPages(lists, lists.owners, window, visibility)
  for (const owner of lists.owners) {
    const [page, expected] = [pages.get(owner), lists.expected(owner, window)]
    expect(page?.items).toEqual(expected.items)
    expect(await page?.hasNextPage()).toBe(await expected.hasNextPage())
    expect(await page?.hasPreviousPage()).toBe(await expected.hasPreviousPage())
  }
}

const firstPage = { limit: 20, backward: false }

describe('pages of lists', () => {
  test('a page without the items of hidden persons is the page of a list that never held them', async () => {
    const list = fc.array(fc.boolean(), { maxLength: 30 })
    const place = fc.option(fc.nat(30), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        fc.array(list, { minLength: 1, maxLength: 3 }),
        fc.record({ limit: fc.nat(5), backward: fc.boolean(), after: place, before: place }),
        async (all, { limit, backward, after, before }) => {
          await expectSamePages(listsOf(...all), {
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

  test('a list whose owner the viewer may not see has an empty page', async () => {
    const lists = new Lists(new Map([[blocked, listOf([false, false])]]))
    const page = (await readPages(lists, [blocked], firstPage, visibility)).get(blocked)
    expect([page?.items, page?.hasNextPage(), page?.hasPreviousPage()]).toEqual([[], false, false])
  })

  test('a list of a tag, which no user owns, is shown without a decision about an owner', async () => {
    const list = fc.array(fc.boolean(), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 3 }), async (all) => {
        const tags = all.map((_, n) => ({ name: `#${n}` }))
        const lists: List<(typeof tags)[number], Item, Item, ReadonlySet<UserId> | undefined> = {
          ...byPerson,
          placeOf: ({ id }) => id,
          read: async (owners, range) =>
            new Map(owners.map(({ name }) => [name, rangeFrom(itemsOf(name), range)])),
        }
        const itemsOf = (name: string) => listOf(all[Number(name.slice(1))] ?? [])
        const pages = await readPages(lists, tags, { limit: 100, backward: false }, visibility)
        for (const { name } of tags) {
          const visible = itemsOf(name).filter(({ person }) => person !== blocked)
          expect(pages.get(name)?.items).toEqual(visible)
        }
      }),
      { numRuns: 100, ...lawSeed() },
    )
  })

  test('pages of many owners without hidden items cost one read', async () => {
    const lists = listsOf(...Array<boolean[]>(3).fill(Array(50).fill(false)))
    await readPages(lists, lists.owners, firstPage, visibility)
    expect(lists.sizes).toEqual([21])
  })

  test('pages of many owners with hidden items cost the reads of one page', async () => {
    const list = [...Array(50).fill(false), ...Array(60).fill(true)]
    const readsOf = async (count: number) => {
      const lists = listsOf(...Array(count).fill(list))
      await readPages(lists, lists.owners, firstPage, visibility)
      return lists.sizes.length
    }
    expect(await readsOf(1)).toBe(3)
    expect(await readsOf(100)).toBe(3)
  })

  test('a page beyond thousands of hidden items is full, and no read returns more than 1,000 items', async () => {
    const lists = listsOf([...Array(30).fill(false), ...Array(5_000).fill(true)])
    await expectSamePages(lists, firstPage)
    expect(lists.itemsMax).toBe(1_000)
  })
})

describe('ranges of lists', () => {
  const range = (limit: number) => ({ limit, oldestFirst: false })
  const read = async (lists: Lists, limit: number) =>
    (await readRange(lists, lists.owners, range(limit), visibility)).get('owner0') ?? []

  test('a range reads one round if no rule drops an item', async () => {
    const lists = listsOf(Array(100).fill(false))
    expect(await read(lists, 3)).toHaveLength(3)
    expect(lists.sizes).toEqual([3])
  })

  test('a range reads on past dropped items, in rounds that double up to 1,000', async () => {
    const lists = listsOf([false, false, ...Array(3_000).fill(true)])
    expect((await read(lists, 200)).map(({ id }) => id)).toEqual([idAt(1), idAt(0)])
    expect(lists.sizes).toEqual([200, 400, 800, 1_000, 1_000])
  })

  test('a range is short when the items end', async () => {
    const lists = listsOf([true, false, true, false, true])
    expect((await read(lists, 4)).map(({ id }) => id)).toEqual([idAt(3), idAt(1)])
    expect(lists.sizes).toEqual([4, 8])
  })

  test('a range reads nothing for a limit of 0', async () => {
    const lists = listsOf([false])
    expect(await read(lists, 0)).toEqual([])
    expect(lists.sizes).toEqual([])
  })

  test('a range continues after a full round of dropped items', async () => {
    expect(await read(listsOf([false, true, true]), 1)).toHaveLength(1)
  })
})

describe('page', () => {
  const id = (n: number) => timeIdAt<PostId>(n * 1000, '0'.repeat(12))
  const never = () => Promise.reject(new Error('nobody asked'))

  test('a page knows from its extra item whether more items follow, without a command', async () => {
    const window = { limit: 2, backward: false }
    const page = pageFrom(window, [3, 2, 1], never)
    expect(page.items).toEqual([3, 2])
    expect(await page.hasNextPage()).toBe(true)
    expect(await page.hasPreviousPage()).toBe(false)
    expect(await pageFrom(window, [3, 2], never).hasNextPage()).toBe(false)
  })

  test('a backward page is sorted newest first', async () => {
    const page = pageFrom({ limit: 2, backward: true }, [1, 2, 3], never)
    expect(page.items).toEqual([2, 1])
    expect(await page.hasPreviousPage()).toBe(true)
    expect(await page.hasNextPage()).toBe(false)
  })

  test('a page reads the side of its cursor, including the item at the cursor', async () => {
    const probes: Range[] = []
    const any = async (range: Range) => probes.push(range) > 0
    const after = pageFrom({ limit: 2, backward: false, after: id(5) }, [4], any)
    expect(await after.hasPreviousPage()).toBe(true)
    const before = pageFrom({ limit: 2, backward: true, before: id(5) }, [6], any)
    expect(await before.hasNextPage()).toBe(true)
    const [newer, older] = probes
    expect(newer?.newerThan && newer.newerThan < id(5)).toBe(true)
    expect(older?.olderThan && older.olderThan > id(5)).toBe(true)
    expect([newer?.limit, older?.limit]).toEqual([1, 1])
  })

  test('a page reads one item more than it returns', () => {
    const window = { limit: 20, backward: true, after: id(1), before: id(9) }
    const bounds = { olderThan: id(1), newerThan: id(9) }
    expect(rangeOf(window)).toEqual({ ...bounds, oldestFirst: true, limit: 21 })
  })
})
