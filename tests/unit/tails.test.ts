import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Range } from '../../src/lib/page.ts'
import type { Change } from '../../src/memory/followed.ts'
import { ProcessMemory } from '../../src/memory/process-memory.ts'
import { Tails } from '../../src/posts/tails.ts'

const authors = ['ann', 'ben', 'cid'] as unknown as readonly UserId[]
const idOf = (n: number) => n.toString(16).padStart(24, '0') as PostId

/** Tails whose memory is always open. */
function openTails(bytesMax = 1_000_000): Tails {
  const memory = new ProcessMemory()
  Object.defineProperty(memory, 'position', { value: {} })
  return new Tails({ memory, bytesMax })
}

/** The posts of a database, in any order. */
class Stored {
  readonly posts = new Map<PostId, UserId>()

  read(of: readonly UserId[], { olderThan, newerThan, oldestFirst, limit }: Range): PostRef[] {
    const found = [...this.posts]
      .filter(([, author]) => of.includes(author))
      .filter(([id]) => olderThan === undefined || (id as string) < olderThan)
      .filter(([id]) => newerThan === undefined || (id as string) > newerThan)
      .map(([id, author]) => ({ id, author }))
      .sort((a, b) => (a.id < b.id === oldestFirst ? -1 : 1))
    return found.slice(0, limit)
  }
}

type Step =
  | { readonly kind: 'post' | 'delete'; readonly n: number; readonly author: number }
  | { readonly kind: 'page'; readonly bound: number | undefined; readonly newer: boolean }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('post' as const, 'delete' as const),
    n: fc.integer({ min: 1, max: 400 }),
    author: fc.nat(2),
  }),
  fc.record({
    kind: fc.constant('page' as const),
    bound: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
    newer: fc.boolean(),
  }),
)

const changeOf = (operation: Change['operation'], id: PostId, author?: UserId): Change => ({
  collection: 'posts',
  operation,
  key: id,
  ...(author ? { document: { author } } : {}),
})

test('whatever is posted, deleted and read, also while tails are filled, a page from tails is that of the database', async () => {
  const law = fc.asyncProperty(
    fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 200 }),
    fc.array(fc.tuple(anyStep, anyStep), { minLength: 1, maxLength: 30 }),
    fc.constantFrom(1_000_000, 20_000),
    async (first, steps, bytesMax) => {
      const [tails, stored] = [openTails(bytesMax), new Stored()]
      for (const n of first) stored.posts.set(idOf(n), authors[n % 3] as UserId)
      const write = ({ kind, n, author }: Exclude<Step, { kind: 'page' }>) => {
        const id = idOf(n)
        const by = authors[author] as UserId
        if (kind === 'post' && !stored.posts.has(id)) {
          stored.posts.set(id, by)
          tails.apply(changeOf('insert', id, by))
        } else if (kind === 'delete' && stored.posts.delete(id)) tails.apply(changeOf('delete', id))
      }
      for (const [step, during] of steps) {
        if (step.kind !== 'page') {
          write(step)
          continue
        }
        const bound = step.bound === undefined ? undefined : idOf(step.bound)
        const range: Range = {
          ...(step.newer ? { newerThan: bound } : { olderThan: bound }),
          oldestFirst: false,
          limit: 20,
        }
        for (let tries = 0; tries < 3; tries++) {
          const { refs, missing } = tails.propose(authors, range)
          if (missing.length === 0) {
            expect(refs).toEqual(stored.read(authors, range))
            break
          }
          await tails.fill(missing, range, async (of, part) => {
            const found = stored.read(of, part)
            if (during.kind !== 'page') write(during)
            return found
          })
        }
      }
    },
  )
  await fc.assert(law, { numRuns: 300 })
})

test('a floor that is too low is found: a page lacks the posts above it', async () => {
  const [tails, stored] = [openTails(), new Stored()]
  for (let n = 1; n <= 100; n++) stored.posts.set(idOf(n), 'ann' as UserId)
  const range = { oldestFirst: false, limit: 60 }
  // A read that returns fewer posts than there are claims that no others exist.
  await tails.fill(authors, range, async (of, part) => stored.read(of, { ...part, limit: 10 }))
  const { refs, missing } = tails.propose(authors, range)
  expect(missing).toEqual([])
  expect(refs).not.toEqual(stored.read(authors, range))
})

test('tails that take too much memory are dropped, those used last stay', async () => {
  const [tails, stored] = [openTails(5_000), new Stored()]
  for (let n = 1; n <= 30; n++) stored.posts.set(idOf(n), authors[n % 3] as UserId)
  const range = { oldestFirst: false, limit: 5 }
  for (const author of authors)
    await tails.fill([author], range, async (of, part) => stored.read(of, part))
  const kept = authors.filter((author) => tails.propose([author], range).missing.length === 0)
  expect(kept.length).toBeGreaterThan(0)
  expect(kept.length).toBeLessThan(3)
})
