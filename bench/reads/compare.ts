import { isDeepStrictEqual } from 'node:util'
import type { Audience } from './data.ts'
import { type PageFields, type PagePost, readPagePosts, type Side } from './side.ts'

/** How many readers are compared. The first ones have mutes, blocks and unfollows. */
const comparedMax = 24

/**
 * Compares the pages of all sides with those of the first: the same posts in the same order, with the same counts and
 * flags.
 * @throws if a page differs, or if a reader has less than a page.
 */
export async function verifySides(
  [standard, ...others]: readonly Side[],
  { readers, visitors }: Audience,
  pageSize: number,
): Promise<void> {
  if (!standard) return
  for (const fields of ['immutable', 'counts'] as const) {
    for (const reader of [...readers.slice(0, comparedMax), ...visitors.slice(0, comparedMax)]) {
      const expected = await readPagePosts(standard, reader, fields)
      if (expected.length !== pageSize)
        throw new Error(`${standard.name}: ${reader} has ${expected.length} posts, not ${pageSize}`)
      for (const side of others) {
        // A handler of one document has only the pages of the readers.
        if (!side.page(reader, fields)) continue
        verifyPage(side.name, reader, fields, await readPagePosts(side, reader, fields), expected)
      }
    }
  }
}

/** @throws unless both pages are equal, naming the first post that differs. */
export function verifyPage(
  name: string,
  reader: string,
  fields: PageFields,
  actual: readonly PagePost[],
  expected: readonly PagePost[],
): void {
  const at = Array.from({ length: Math.max(actual.length, expected.length) }).findIndex(
    (_, index) => !isDeepStrictEqual(actual[index], expected[index]),
  )
  if (at < 0) return
  const [found, wanted] = [actual[at], expected[at]].map((post) => JSON.stringify(post))
  throw new Error(
    `${name}: post ${at} of ${reader}'s page with ${fields} fields is ${found} instead of ${wanted}`,
  )
}
