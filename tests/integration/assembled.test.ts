import * as operations from '@feedline/client'
import fc from 'fast-check'
import { type DocumentNode, type ExecutionResult, getOperationAST, parse, validate } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { startingAt } from '../../src/feed/timeline/poll-cursor.ts'
import { wasRefused } from '../../src/graphql/assemble.ts'
import { Context } from '../../src/graphql/context.ts'
import { createExecute, createPlainExecute, type Execute } from '../../src/graphql/executor.ts'
import { cursorOf, postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import { encodePollCursor } from '../../src/graphql/poll-cursor.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { randomRequest, type Values } from '../laws/model/random-documents.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices()
const schema = createSchema()
const [executePlain, execute] = [createPlainExecute(schema), createExecute(schema)]
const [reader, friend, blocked] = [handle('reader'), handle('friend'), handle('blocked')] as const
const people = Array.from({ length: 6 }, (_, n) => handle(`p${n}`))
let values: Values = {}

beforeAll(async () => {
  const { follows, posts, engagements, restrictions } = harness.services
  await openAccounts(harness.services, [reader, friend, blocked, ...people])
  const written = []
  for (const author of [friend, blocked, ...people]) {
    await follows.follow(reader, author)
    const attachments = [{ url: 'https://example.org/a.png', kind: 'IMAGE' as const }]
    for (const text of ['first', 'a "quoted"\u2028\nline'])
      written.push(await posts.create(author, { text, attachments }))
  }
  for (const post of written.slice(0, 4)) {
    for (const one of [reader, ...people]) await engagements.add('likes', one, post)
    await engagements.add('comments', friend, post, { text: 'a comment' })
    await engagements.add('shares', reader, post)
  }
  await restrictions.block(blocked, reader)
  await harness.rest()
  const handles = [reader, friend, blocked, ...people]
  values = {
    ...{ first: [0, 1, 3, 100], last: [0, 2, 100], group: ['none'], code: ['CONFLICT'] },
    ...{ after: written.map(({ id }) => cursorOf(id)), handle: handles },
    before: written.map(({ id }) => cursorOf(id)),
    id: [...written.map(postNodeId), ...handles.map(userNodeId)],
    ids: [[], [...written.map(postNodeId), ...handles.map(userNodeId)]],
    post: written.map(postNodeId),
    strategy: ['FANOUT_ON_READ'],
    since: written.map(({ id }) => encodePollCursor(startingAt(id))),
  }
})

const contextOf = () => new Context(harness.services, reader, { id: 'a', ip: '::1' }, () => {})

/** The text of an answer, as it is rendered, without the time of the poll cursor. */
const rendered = ({ data, errors }: ExecutionResult) =>
  JSON.stringify({ data, errors }).replaceAll(/"pollCursor":"[^"]*"/g, '"pollCursor":""')

/**
 * The errors of an answer by the place whose value is null for them. Of several fields that make the same place null,
 * GraphQL does not say which are reported, nor in which order.
 */
function errorsByNull({ data, errors = [] }: ExecutionResult) {
  const byNull = new Map<string, Map<string, string>>()
  for (const error of errors) {
    const path = error.path ?? []
    let value: unknown = data
    let depth = 0
    while (value !== null && depth < path.length)
      value = (value as Record<string | number, unknown>)[path[depth++] as string]
    const place = JSON.stringify(path.slice(0, depth))
    const here = byNull.get(place) ?? new Map<string, string>()
    byNull.set(place, here.set(JSON.stringify(path), JSON.stringify(error)))
  }
  return byNull
}

/** Checks that two answers have equal data, and errors for the same nulls, with equal texts for the same field. */
function expectSame(found: ExecutionResult, expected: ExecutionResult, query: string): void {
  expect(rendered({ data: found.data ?? null }), query).toBe(
    rendered({ data: expected.data ?? null }),
  )
  const [foundErrors, expectedErrors] = [errorsByNull(found), errorsByNull(expected)]
  expect([...foundErrors.keys()].sort(), query).toEqual([...expectedErrors.keys()].sort())
  for (const [place, errors] of foundErrors) {
    for (const [path, error] of errors)
      expect(error, query).toBe(expectedErrors.get(place)?.get(path) ?? error)
  }
}

/** Executes a document both ways. @returns both answers, and whether edges were assembled. */
async function executeBoth(document: DocumentNode, variables: object = {}, by: Execute = execute) {
  const asked = { document, variables: variables as Readonly<Record<string, unknown>> }
  const context = contextOf()
  const expected = await executePlain(asked, contextOf())
  const found = await by(asked, context)
  const answers = { found, expected }
  return { expected: rendered(expected), found: rendered(found), context, answers }
}

const page = (selection: string) =>
  parse(`query ($yes: Boolean = true, $no: Boolean = false) {
  timeline(first: 20) { ${selection} } }
  fragment A on Post { id text @skip(if: $yes) }
  fragment B on Node { __typename id }`)

describe('an assembled answer is that of graphql-js', () => {
  test.each([
    'edges { cursor node { id text createdAt author { handle name } likeCount viewerHasLiked } }',
    'edges { node { ...A ...B author { ...B } } }',
    'edges { node { ...A @skip(if: $yes) ...A @include(if: $yes) ...B @include(if: $no) } }',
    'edges { n: node { t: text } } edges { n: node { u: text author { handle } } cursor }',
    'a: edges { cursor } b: edges { __typename node { __typename } }',
    'edges @skip(if: $yes) { cursor }',
    'edges { node { attachments { url kind alt __typename } } } pageInfo { hasNextPage }',
    'edges { node { ... on User { name } ... on Post { text } ... { id } } }',
    'edges { node { stats: likeCount likeCount author { followerCount bio avatarUrl createdAt } } }',
  ])('%s', async (selection) => {
    const { expected, found, context } = await executeBoth(page(selection))
    expect(wasRefused(context)).toBe(false)
    expect(found).toBe(expected)
    expect(expected).not.toContain('errors')
  })

  test('for every query of schema/operations', async () => {
    const documents = Object.values(operations) as readonly DocumentNode[]
    const queries = documents.filter((one) => getOperationAST(one)?.operation === 'query')
    for (const document of queries) {
      const variables = Object.fromEntries(
        Object.entries(values).map(([argument, some]) => [argument, some[0]]),
      )
      const { expected, found } = await executeBoth(document, variables)
      expect(found, getOperationAST(document)?.name?.value).toBe(expected)
    }
    expect(queries.length).toBeGreaterThan(8)
  })

  test('if an operation has no such name, or an alias that no object may have', async () => {
    const document = parse(
      'query A { timeline { edges { __proto__: cursor } } } query B { __typename }',
    )
    for (const operationName of [undefined, 'A', 'C']) {
      const asked = { document, operationName, variables: {} }
      const [expected, found] = [
        await executePlain(asked, contextOf()),
        await execute(asked, contextOf()),
      ]
      expect(rendered(found)).toBe(rendered(expected))
    }
  })

  test('if a value does not fit its type', async () => {
    const { user_stats } = harness.services.collections
    const counted = await user_stats.findOneAndUpdate(
      { _id: friend },
      { $set: { followers: 3_000_000_000 } },
    )
    const selection = 'edges { node { author { handle followerCount } } }'
    const { expected, found, context } = await executeBoth(page(selection))
    if (counted) await user_stats.replaceOne({ _id: friend }, counted)
    expect(expected).toContain('Int cannot represent non 32-bit signed integer value')
    expect(found).toBe(expected)
    expect(wasRefused(context)).toBe(true)
  })

  test('if a document has another shape, so that its node is absent', async () => {
    const { posts } = harness.services.collections
    const seen = await executeBoth(page('edges { node { text } }'))
    const damaged = await posts.findOneAndUpdate({ author: friend }, { $unset: { text: 1 } })
    const { expected, found, context } = await executeBoth(page('edges { node { text } }'))
    if (damaged) await posts.replaceOne({ _id: damaged._id }, damaged)
    expect(expected).not.toContain('errors')
    expect(expected).not.toBe(seen.expected)
    expect(found).toBe(expected)
    expect(wasRefused(context)).toBe(false)
  })

  const runs = lawRuns(60)
  test(
    'for random documents',
    async () => {
      let withEdges = 0
      const property = fc.asyncProperty(fc.gen(), async (g) => {
        const { query, variables } = randomRequest(g, schema, values)
        const document = parse(query)
        if (validate(schema, document).length > 0) return
        const { expected, answers } = await executeBoth(document, variables)
        expectSame(answers.found, answers.expected, query)
        if (expected.includes('cursor')) withEdges++
      })
      await fc.assert(property, { numRuns: runs, endOnFailure: true, ...lawSeed() })
      noteFact(`assembled: ${withEdges} of ${runs} random answers had cursors`)
      expect(withEdges).toBeGreaterThan(0)
    },
    patient(60_000 + runs * 500),
  )
})
