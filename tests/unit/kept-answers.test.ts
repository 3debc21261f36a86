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
    answers.keep(`${n}`, { ...about, ...renderedAs('x'.repeat(500)) }, '')
  const found = Array.from({ length: 100 }, (_, n) => answers.find(`${n}`))
  const kept = found.filter((one) => one !== undefined)
  expect(kept.length).toBeGreaterThan(10)
  expect(kept.length * 1_000).toBeLessThanOrEqual(bounds.bytesMax)
  expect(found[99]).toBeDefined()
})

test('an answer takes a small share of the memory, and without memory none is kept', () => {
  const answers = new KeptAnswers(bounds)
  const small = { ...about, ...renderedAs('{}') }
  answers.keep('a', small, '')
  expect(answers.find('a')).toEqual(small)
  const none = new KeptAnswers({ ...bounds, bytesMax: 0 })
  none.note('a', '')
  none.keep('a', small, '')
  expect([none.find('a'), none.isWorthKeeping('a')]).toEqual([undefined, false])
  answers.note('b', '')
  for (let times = 0; times < 2; times++) {
    expect(answers.isWorthKeeping('b')).toBe(true)
    answers.keep('b', { ...about, ...renderedAs('x'.repeat(bounds.bytesMax / 64)) }, '')
    expect(answers.find('b')).toBeUndefined()
  }
  // No further stamp is read for it.
  expect(answers.isWorthKeeping('b')).toBe(false)
})

describe('the first request of an answer', () => {
  const holes = () => [{ path: ['none'], post: {} as never, field: 'likeCount' }]
  const stamping = {} as Stamping
  const labels = { contentType: about.contentType, operation: about.operation }
  const answered = (answers: KeptAnswers, change: (keeping: Keeping) => void) => {
    const keeping = new Keeping('a', answers.isWorthKeeping('a') ? stamping : undefined)
    keeping.noteCost(1)
    change(keeping)
    keeping.keepIn(answers, '{"data":{}}', labels)
    return { stamping: keeping.stamping, isKept: answers.find('a') !== undefined }
  }

  test('reads no versions, and the second one keeps the answer', () => {
    const answers = new KeptAnswers(bounds)
    const first = answered(answers, (keeping) => keeping.offerStamp(undefined, 'x'))
    expect(first).toEqual({ stamping: undefined, isKept: false })
    const second = answered(answers, (keeping) => keeping.offerStamp(stamp, 'x'))
    expect(second).toEqual({ stamping, isKept: true })
  })

  test('is not noted if its answer depends on something without versions, or has errors', () => {
    const answers = new KeptAnswers(bounds)
    answered(answers, () => {})
    answered(answers, (keeping) => {
      keeping.offerStamp(undefined, 'x')
      keeping.refuse()
    })
    expect(answers.isWorthKeeping('a')).toBe(false)
  })

  test('is sent by several clients at once, and the answer is kept all the same', () => {
    const answers = new KeptAnswers(bounds)
    const all = Array.from({ length: 4 }, () => new Keeping('a', undefined))
    for (const keeping of all) {
      keeping.noteCost(1)
      keeping.offerStamp(undefined, 'x')
      keeping.keepIn(answers, '{"data":{}}', labels)
    }
    expect(answered(answers, (keeping) => keeping.offerStamp(stamp, 'x')).isKept).toBe(true)
  })

  test('is followed by no further try after two answers without a value in a hole', () => {
    const answers = new KeptAnswers(bounds)
    answered(answers, (keeping) => keeping.offerStamp(undefined, 'x'))
    for (let times = 0; times < 2; times++)
      expect(answered(answers, (keeping) => keeping.offerStamp(stamp, 'x', holes)).isKept).toBe(
        false,
      )
    expect(
      answered(answers, (keeping) => keeping.offerStamp(undefined, 'x')).stamping,
    ).toBeUndefined()
  })
})

describe('an answer that is out of date', () => {
  const answer = { ...about, ...renderedAs('{}') }
  const outdated = (answers: KeptAnswers, served: number) => {
    answers.keep('a', answer, 'kept')
    for (let times = 0; times < served; times++) answers.noteServed('a')
    const isNextKept = answers.outdate('a', answer)
    expect(answers.find('a')).toBeUndefined()
    return isNextKept
  }
  /** How many answers that list the same pass before one is kept. */
  const restsBefore = (answers: KeptAnswers) => {
    answers.note('a', 'other')
    let rests = 0
    for (; !answers.isWorthKeeping('a'); rests++) answers.note('a', 'another')
    return rests
  }

  test('is followed by one that is kept, if it was sent again twice', () => {
    expect(outdated(new KeptAnswers(bounds), 2)).toBe(true)
  })

  test('and was sent again less often is followed by one that is kept after some that list the same', () => {
    const answers = new KeptAnswers(bounds)
    answers.note('a', '')
    const rests = [0, 1, 0].map((served) => {
      expect(outdated(answers, served)).toBe(false)
      return restsBefore(answers)
    })
    expect(rests).toEqual([2, 3, 5])
    expect(outdated(answers, 2)).toBe(true)
    expect(outdated(answers, 0)).toBe(false)
    expect(restsBefore(answers)).toBe(2)
  })

  test('is followed by one that is not kept while each lists something else', () => {
    const answers = new KeptAnswers(bounds)
    answers.note('a', '')
    outdated(answers, 0)
    for (let times = 0; times < 20; times++) answers.note('a', `${times}`)
    expect(answers.isWorthKeeping('a')).toBe(false)
  })

  test('does not drop a newer one', () => {
    const answers = new KeptAnswers(bounds)
    answers.keep('a', { ...answer }, '')
    expect(answers.outdate('a', answer)).toBe(true)
    expect(answers.find('a')).toBeDefined()
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
