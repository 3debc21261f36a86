import { describe, expect, test } from 'vitest'
import type { Subject } from '../../src/db/versions.ts'
import { keptMsMaxOf } from '../../src/feed/feeds.ts'
import { KeptPages } from '../../src/feed/timeline/kept-pages.ts'
import { type AnswerTemplate, templateOf } from '../../src/graphql/answer-template.ts'
import { KeptAnswers } from '../../src/graphql/kept-answers.ts'
import { etagOf, namesEtag } from '../../src/http/entity-tags.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'

const stamp = { versions: new Map<Subject, string>([['registrations', '1']]), accounts: new Map() }
/** The rendered part of an answer without holes. */
const renderedAs = (body: string) => ({
  template: templateOf(body, []) as AnswerTemplate,
  etag: etagOf(body),
})

/** What all answers of these tests have in common. */
const about = {
  contentType: 'application/json',
  isNews: false,
  cost: 1,
  operation: undefined,
  stamp,
}
const bounds = { bytesMax: 200_000, keptMsMax: 60_000 }

test('answers are bounded in bytes, and the one used longest ago is dropped', async () => {
  const answers = new KeptAnswers(bounds)
  for (const n of Array.from({ length: 200 }, (_, n) => n >> 1))
    answers.keep(`${n}`, () => ({ ...about, ...renderedAs('x'.repeat(500)) }))
  const found = Array.from({ length: 100 }, (_, n) => answers.find(`${n}`))
  const kept = found.filter((one) => one !== undefined)
  expect(kept.length).toBeGreaterThan(10)
  expect(kept.length * 1_000).toBeLessThanOrEqual(bounds.bytesMax)
  expect(found[99]).toBeDefined()
})

test('an answer is kept from its second request on, and takes a small share of the memory', () => {
  const answers = new KeptAnswers(bounds)
  const small = { ...about, ...renderedAs('{}') }
  answers.keep('a', () => expect.fail('rendered at the first request'))
  expect(answers.find('a')).toBeUndefined()
  answers.keep('a', () => small)
  expect(answers.find('a')).toEqual(small)
  const large = { ...about, ...renderedAs('x'.repeat(bounds.bytesMax / 64)) }
  for (let times = 0; times < 2; times++) answers.keep('b', () => large)
  expect(answers.find('b')).toBeUndefined()
})

test('pages are bounded in bytes, and nothing is kept without memory', async () => {
  const areComplete = async () => true
  const slice = {
    items: Array.from({ length: 50 }, (_, n) => ({
      ...{ id: `${n}` as PostId, author: 'a' as UserId, text: 'x'.repeat(100) },
    })),
    ...{ servedBy: 'INBOX' as const, isStored: true, facts: [] },
  }
  // A page may take a 64th of the memory.
  const larger = { ...bounds, bytesMax: 2_000_000 }
  const pages = new KeptPages({ areComplete }, larger)
  const none = new KeptPages({ areComplete }, { ...bounds, bytesMax: 0 })
  for (let n = 0; n < 200; n++) for (const one of [pages, none]) one.keep(`${n}`, slice, stamp)
  const found = await Promise.all(Array.from({ length: 200 }, (_, n) => pages.findVisit(`${n}`)))
  const kept = found.filter((one) => one?.slice !== undefined)
  expect(kept.length).toBeGreaterThan(1)
  expect(kept.length * 50 * 400).toBeLessThanOrEqual(larger.bytesMax)
  expect(await none.findVisit('199')).toBeUndefined()
})

test('an answer is kept for less than the time after which its reader must read the stored cache', () => {
  for (const cacheAwayDays of [0.01, 1, 30, 3_660]) {
    // A page that is as old as allowed can become an answer that is as old as allowed.
    const servedMs = 2 * keptMsMaxOf({ cacheAwayDays })
    expect(servedMs).toBeLessThanOrEqual((cacheAwayDays * 86_400_000) / 8)
  }
})

describe('entity tags', () => {
  test.each([
    [undefined, false],
    ['', false],
    ['"a"', false],
    ['"b"', true],
    ['W/"b"', true],
    ['"a", W/"b"', true],
    ['*', true],
  ])('%s names W/"b": %s', (header, is) => expect(namesEtag(header, 'W/"b"')).toBe(is))

  test('equal answers have equal tags, others have others', () => {
    expect(etagOf('{}')).toBe(etagOf('{}'))
    expect(etagOf('{}')).not.toBe(etagOf('{ }'))
  })
})
