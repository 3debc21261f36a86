import { getNamedType, isLeafType, isObjectType, parse } from 'graphql'
import { describe, expect, test, vi } from 'vitest'
import { Plans } from '../../src/graphql/fast-path/plans.ts'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()

/** Whether a document has a plan, or why not. */
function outcomeOf(text: string) {
  const plan = new Plans(schema).find(parse(text), undefined)
  if (!plan) return 'no timeline'
  if ('unplanned' in plan) return plan.unplanned
  return plan.isPartial ? 'planned in part' : 'planned'
}

describe('the plans of a document', () => {
  test.each([
    ['a planned operation', 'query A { timeline { servedBy } }', 'A'],
    [
      'an operation that only graphql-js answers',
      'query A { timelineNews(since: "x") { authors { postCount } } }',
      'A',
    ],
    [
      'such an operation without a name',
      '{ timelineNews(since: "x") { authors { postCount } } }',
      undefined,
    ],
  ])('are made once for %s', (_, text, name) => {
    const plans = new Plans(schema)
    const document = parse(text)
    const planning = vi.spyOn(schema, 'getQueryType')
    const first = plans.find(document, name)
    expect(planning).toHaveBeenCalledTimes(1)
    expect(plans.find(document, name)).toBe(first)
    expect(planning).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['a timeline', '{ timeline { edges { node { text } } } }', 'planned'],
    [
      'a timeline but for a field of posts',
      '{ timeline { edges { node { text likes(first: 1) { totalCount } } } } }',
      'planned in part',
    ],
    ['its news', '{ timelineNews(since: "x") { count changed authors { name } } }', 'planned'],
    [
      'a field of authors that a command answers',
      '{ timelineNews(since: "x") { authors { followerCount } } }',
      'field',
    ],
    ['two fields', '{ timelineNews(since: "x") { count } timeline { servedBy } }', 'operation'],
    ['a fragment on Query', '{ ...F } fragment F on Query { timeline { servedBy } }', 'operation'],
    ['a directive', '{ timelineNews(since: "x") @include(if: true) { count } }', 'directive'],
    ['no timeline', '{ viewer { id } ... on Query { __typename } }', 'no timeline'],
    ['a mutation', 'mutation { deletePost(input: { postId: "x" }) { changed } }', 'no timeline'],
  ])('answer %s, or say why they do not: %s, %s', (_, text, outcome) => {
    expect(outcomeOf(text)).toBe(outcome)
  })

  /** Where the fields of each type are selected. */
  const places: readonly (readonly [type: string, select: (field: string) => string])[] = [
    ['TimelineConnection', (field) => `{ timeline { ${field} } }`],
    ['PageInfo', (field) => `{ timeline { pageInfo { ${field} } } }`],
    ['TimelineEdge', (field) => `{ timeline { edges { ${field} } } }`],
    ['Post', (field) => `{ timeline { edges { node { ${field} } } } }`],
    ['User', (field) => `{ timeline { edges { node { author { ${field} } } } } }`],
    ['Attachment', (field) => `{ timeline { edges { node { attachments { ${field} } } } } }`],
    ['TextFacet', (field) => `{ timeline { edges { node { facets { ${field} } } } } }`],
    ['TimelineNews', (field) => `{ timelineNews(since: "x") { ${field} } }`],
    ['User', (field) => `{ timelineNews(since: "x") { authors { ${field} } } }`],
  ]
  /** The fields without a plan, and what a plan would have to read. */
  const unplannedFields: Readonly<Record<string, readonly string[]>> = {
    // Pages of other lists.
    Post: ['comments', 'likes', 'shares'],
    User: [
      // Pages of other lists.
      ...['followers', 'following', 'likedPosts', 'mutuals', 'posts'],
      // Counters, followers, groups, mutes and blocks, which no page needs.
      ...['followerCount', 'followingCount', 'postCount', 'followsViewer', 'viewerGroups'],
      ...['viewerCanFollow', 'viewerHasBlocked', 'viewerHasMuted'],
    ],
    // Users beside the authors of the page.
    TextFacet: ['user'],
  }
  const fieldsOf = (name: string) => {
    const type = schema.getType(name)
    if (!isObjectType(type)) throw new Error(`${name} has no fields`)
    return Object.values(type.getFields())
  }

  test.each(places)(
    'answer all fields of %s, but those that are named here: %s',
    (name, select) => {
      const unplanned = fieldsOf(name).filter((field) => {
        const below = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }'
        const outcome = outcomeOf(select(field.name + below))
        // graphql-js executes such fields of posts alone.
        const left = select('').includes('node {') ? 'planned in part' : 'field'
        expect(['planned', left]).toContain(outcome)
        return outcome === left
      })
      const names = unplanned.map((field) => field.name)
      expect(names.sort()).toEqual([...(unplannedFields[name] ?? [])].sort())
    },
  )

  test('are checked for the type of every object that a planned field has', () => {
    const checked = new Set(places.map(([name]) => name))
    const below = [...checked].flatMap((name) =>
      fieldsOf(name)
        .filter((field) => !unplannedFields[name]?.includes(field.name))
        .map((field) => getNamedType(field.type)),
    )
    expect(below.filter((type) => isObjectType(type) && !checked.has(type.name))).toEqual([])
  })

  test('are made for no operation that it does not have', () => {
    const plans = new Plans(schema)
    const document = parse('query A { timeline { servedBy } } query B { timeline { servedBy } }')
    const planning = vi.spyOn(schema, 'getQueryType')
    for (const name of ['C', '', undefined]) expect(plans.find(document, name)).toBeUndefined()
    expect(planning).not.toHaveBeenCalled()
  })

  test('are few at a time', () => {
    const plans = new Plans(schema)
    const names = Array.from({ length: 100 }, (_, n) => `Q${n}`)
    const document = parse(names.map((name) => `query ${name} { timeline { servedBy } }`).join(' '))
    const made = names.map((name) => plans.find(document, name))
    expect(new Set(made).size).toBe(names.length)
    const again = names.toReversed().map((name) => plans.find(document, name))
    const kept = again.filter((plan) => made.includes(plan))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThanOrEqual(10)
  })
})
