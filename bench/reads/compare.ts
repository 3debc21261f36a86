import { isDeepStrictEqual } from 'node:util'
import type { UserId } from '../../src/lib/ids.ts'
import { type PagePost, readPage, type Side } from './side.ts'

/**
 * Compares the pages of all sides with those of the first: the same posts in the same order, with
 * the same counts and flags.
 * @throws if a page differs or is empty.
 */
export async function verifySides(
  [standard, ...others]: readonly Side[],
  readers: readonly UserId[],
): Promise<void> {
  if (!standard) return
  for (const reader of readers) {
    const expected = await readPage(standard, reader)
    if (expected.length === 0) throw new Error(`${standard.name}: ${reader} has no posts`)
    for (const side of others) verifyPage(side.name, reader, await readPage(side, reader), expected)
  }
}

/** @throws unless both pages are equal, naming the first post that differs. */
export function verifyPage(
  name: string,
  reader: string,
  actual: readonly PagePost[],
  expected: readonly PagePost[],
): void {
  const at = Array.from({ length: Math.max(actual.length, expected.length) }).findIndex(
    (_, index) => !isDeepStrictEqual(actual[index], expected[index]),
  )
  if (at < 0) return
  const [found, wanted] = [actual[at], expected[at]].map((post) => JSON.stringify(post))
  throw new Error(`${name}: post ${at} of ${reader}'s page is ${found} instead of ${wanted}`)
}
