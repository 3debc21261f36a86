import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EngagementSummary } from '../../src/engagement/summaries.ts'
import {
  fillTemplate,
  type Hole,
  holeFields,
  templateOf,
} from '../../src/graphql/answer-template.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'

const author = 'a' as UserId

/** The answer with a page of posts, and what is known about them. */
function answerOf(
  summaries: readonly EngagementSummary[],
  texts: readonly string[],
  key = 'edges',
) {
  const valueIn = (field: string, { counts, viewerHas }: EngagementSummary) =>
    ({
      likeCount: counts.likes ?? 0,
      commentCount: counts.comments ?? 0,
      shareCount: counts.shares ?? 0,
      viewerHasLiked: viewerHas?.has('likes'),
      viewerHasShared: viewerHas?.has('shares'),
    })[field]
  const nodes = summaries.map((summary, at) => ({
    text: texts[at] ?? '',
    ...Object.fromEntries(holeFields.map((field) => [field, valueIn(field, summary)])),
  }))
  const body = `${JSON.stringify({ data: { timeline: { [key]: nodes } } })}\n`
  const holes = summaries.flatMap((_, at) =>
    holeFields.map((field): Hole => {
      const post = { id: `${at}` as PostId, author }
      return { path: ['timeline', key, at, field], post, field }
    }),
  )
  return { body, holes, known: new Map(summaries.map((one, at) => [`${at}` as PostId, one])) }
}

const anySummary: fc.Arbitrary<EngagementSummary> = fc.record({
  counts: fc.record({ likes: fc.nat(), comments: fc.nat() }, { requiredKeys: [] }),
  viewerHas: fc.subarray(['likes', 'shares'] as const).map((some) => new Set(some)),
})

test('a template with the values of later summaries is the answer that they would have', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\u2028', '"},0]'))
  const anyAnswer = fc.array(fc.tuple(anySummary, anySummary, text), { maxLength: 6 })
  fc.assert(
    fc.property(anyAnswer, (posts) => {
      const texts = posts.map(([, , one]) => one)
      const before = answerOf(
        posts.map(([one]) => one),
        texts,
      )
      const after = answerOf(
        posts.map(([, one]) => one),
        texts,
      )
      const template = templateOf(before.body, before.holes)
      expect(template && fillTemplate(template, after.known)).toBe(after.body)
    }),
  )
})

describe('there is no template', () => {
  const summary: EngagementSummary = { counts: { likes: 2 }, viewerHas: new Set() }
  const { body, holes, known } = answerOf([summary], ['text'])

  test.each<[string, string, readonly Hole[]]>([
    ['if a post is gone', '{"data":{"timeline":{"edges":[null]}}}', holes],
    ['if the answer has another shape', '{"data":null}', holes],
    ['if the answer is not rendered as usual', body.replaceAll(':', ': '), holes],
    ['if two holes are the same', body, [...holes, ...holes]],
  ])('%s', (_, text, some) => expect(templateOf(text, some)).toBeUndefined())

  test('to fill for a post without a summary', () => {
    const template = templateOf(body, holes)
    expect(template && fillTemplate(template, known)).toBe(body)
    expect(template && fillTemplate(template, new Map())).toBeUndefined()
  })
})
