import { describe, expect, test } from 'vitest'
import type { Stamping } from '../../src/db/stamps.ts'
import type { Subject } from '../../src/db/versions.ts'
import { keptMsMaxOf } from '../../src/feed/feeds.ts'
import { type AnswerTemplate, templateOf } from '../../src/graphql/answer-template.ts'
import { Keeping, KeptAnswers } from '../../src/graphql/kept-answers.ts'
import { etagOf, namesEtag } from '../../src/http/entity-tags.ts'

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

test('answers are bounded in bytes, and the one used longest ago is dropped', () => {
  const answers = new KeptAnswers(bounds)
  for (const n of Array.from({ length: 200 }, (_, n) => n >> 1))
    answers.keep(`${n}`, { ...about, ...renderedAs('x'.repeat(500)) })
  const found = Array.from({ length: 100 }, (_, n) => answers.find(`${n}`))
  const kept = found.filter((one) => one !== undefined)
  expect(kept.length).toBeGreaterThan(10)
  expect(kept.length * 1_000).toBeLessThanOrEqual(bounds.bytesMax)
  expect(found[99]).toBeDefined()
})

test('an answer takes a small share of the memory, and without memory none is kept', () => {
  const answers = new KeptAnswers(bounds)
  const small = { ...about, ...renderedAs('{}') }
  answers.keep('a', small)
  expect(answers.find('a')).toEqual(small)
  const none = new KeptAnswers({ ...bounds, bytesMax: 0 })
  none.note('a')
  none.keep('a', small)
  expect([none.find('a'), none.isRepeated('a')]).toEqual([undefined, false])
  answers.note('b')
  for (let times = 0; times < 2; times++) {
    expect(answers.isRepeated('b')).toBe(true)
    answers.keep('b', { ...about, ...renderedAs('x'.repeat(bounds.bytesMax / 64)) })
    expect(answers.find('b')).toBeUndefined()
  }
  // No further stamp is read for it.
  expect(answers.isRepeated('b')).toBe(false)
})

describe('the first request of an answer', () => {
  const holes = () => [{ path: ['none'], post: {} as never, field: 'likeCount' }]
  const stamping = {} as Stamping
  const labels = { contentType: about.contentType, operation: about.operation }
  const answered = (answers: KeptAnswers, change: (keeping: Keeping) => void) => {
    const keeping = new Keeping('a', answers.isRepeated('a') ? stamping : undefined)
    keeping.noteCost(1)
    change(keeping)
    keeping.keepIn(answers, '{"data":{}}', labels)
    return { stamping: keeping.stamping, isKept: answers.find('a') !== undefined }
  }

  test('reads no versions, and the second one keeps the answer', () => {
    const answers = new KeptAnswers(bounds)
    const first = answered(answers, (keeping) => keeping.offerStamp(undefined))
    expect(first).toEqual({ stamping: undefined, isKept: false })
    const second = answered(answers, (keeping) => keeping.offerStamp(stamp))
    expect(second).toEqual({ stamping, isKept: true })
  })

  test('is not noted if its answer depends on something without versions, or has errors', () => {
    const answers = new KeptAnswers(bounds)
    answered(answers, () => {})
    answered(answers, (keeping) => {
      keeping.offerStamp(undefined)
      keeping.refuse()
    })
    expect(answers.isRepeated('a')).toBe(false)
  })

  test('is sent by several clients at once, and the answer is kept all the same', () => {
    const answers = new KeptAnswers(bounds)
    const all = Array.from({ length: 4 }, () => new Keeping('a', undefined))
    for (const keeping of all) {
      keeping.noteCost(1)
      keeping.offerStamp(undefined)
      keeping.keepIn(answers, '{"data":{}}', labels)
    }
    expect(answered(answers, (keeping) => keeping.offerStamp(stamp)).isKept).toBe(true)
  })

  test('is followed by no further try after two answers without a value in a hole', () => {
    const answers = new KeptAnswers(bounds)
    answered(answers, (keeping) => keeping.offerStamp(undefined))
    for (let times = 0; times < 2; times++)
      expect(answered(answers, (keeping) => keeping.offerStamp(stamp, holes)).isKept).toBe(false)
    expect(answered(answers, (keeping) => keeping.offerStamp(undefined)).stamping).toBeUndefined()
  })
})

test('an answer is kept for less than the time after which its reader must read the stored cache', () => {
  for (const cacheAwayDays of [0.01, 1, 30, 3_660]) {
    expect(keptMsMaxOf({ cacheAwayDays })).toBeLessThanOrEqual((cacheAwayDays * 86_400_000) / 8)
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
