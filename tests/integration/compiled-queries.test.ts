import fc from 'fast-check'
import { type DocumentNode, execute, getOperationAST, parse, print, validate } from 'graphql'
import { beforeAll, expect, test } from 'vitest'
import { feedStrategyNames } from '../../src/feed/strategies/list.ts'
import { startingAt } from '../../src/feed/timeline/poll-cursor.ts'
import { Context } from '../../src/graphql/context.ts'
import { formatError } from '../../src/graphql/errors.ts'
import { Executor } from '../../src/graphql/execution.ts'
import { cursorOf, postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import { encodePollCursor } from '../../src/graphql/poll-cursor.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { type RandomRequest, randomRequest, type Values } from '../laws/model/random-documents.ts'
import { sameLimits } from '../support/engagement.ts'
import * as operations from '../support/operations.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', sameLimits({ threshold: 2, capacity: 3 }))
const schema = createSchema()
const people = Array.from({ length: 8 }, (_, n) => handle(`p${n}`)) as [UserId, ...UserId[]]
const [reader] = people
const posts: PostRef[] = []
let values: Values = {}

beforeAll(async () => {
  const { services } = harness
  const { follows, restrictions, engagements, posts: stored } = services
  await openAccounts(services, people)
  for (const [n, one] of people.entries()) {
    for (const other of people) if (other !== one) await follows.follow(one, other)
    posts.push(
      await stored.create(one, { text: `text of ${n}` }),
      await stored.create(one, { text: 'b' }),
    )
  }
  for (const post of posts.slice(0, 4)) {
    for (const one of people.slice(0, 5)) {
      await engagements.add('likes', one, post)
      await engagements.add('shares', one, post)
      await engagements.add('comments', one, post, { text: `by ${one}` })
    }
  }
  await restrictions.mute(reader, people[6] as UserId)
  await restrictions.block(reader, people[7] as UserId)
  await follows.setGroups(reader, people[1] as UserId, ['close'])
  const handles = [...people, 'nobody']
  const ids = [...posts.map(postNodeId), ...people.map(userNodeId), 'no id']
  const cursors = [...posts.map(({ id }) => cursorOf(id)), 'no cursor']
  const sizes = [0, 1, 2, 20, -1, 101]
  values = {
    first: sizes,
    last: sizes,
    after: cursors,
    before: cursors,
    handle: handles,
    id: ids,
    ids: [ids.slice(0, 3), [], ids.slice(0, 10)],
    post: ids,
    group: ['close', 'none', ''],
    strategy: feedStrategyNames,
    one: feedStrategyNames,
    other: feedStrategyNames,
    code: ['CONFLICT'],
    since: posts.map(({ id }) => encodePollCursor(startingAt(id))),
  }
})

const pollCursor = /"WyJQb2xs[^"]*"/g

type Path = readonly (string | number)[]

/** Where an error leaves null: at its path, or at the first null above it. */
function nulledBy(data: unknown, path: Path): Path {
  let at = data
  for (const [depth, key] of path.entries()) {
    if (at === null || at === undefined) return path.slice(0, depth)
    at = (at as Record<string | number, unknown>)[key]
  }
  return path
}

/** The answers of graphql-js and of compiled code to one request. */
async function answersTo(request: RandomRequest, viewer: UserId | undefined) {
  const document = parse(request.query)
  const operation = getOperationAST(document)
  if (!operation) throw new Error('no operation')
  const context = () => new Context(harness.services, viewer, { id: 'r', ip: '::1' }, () => {})
  const { variables } = request
  const compiled = new Executor(schema, 1).execute({
    ...{ document, operation, variables, context: context(), operationName: null },
    queryHash: 'it',
  })
  const interpreted = execute({
    schema,
    document,
    variableValues: variables,
    contextValue: context(),
  })
  return Promise.all(
    [interpreted, compiled].map(async (answer) => {
      const { data, errors } = await answer
      const told = errors?.map((thrown) => {
        const error = formatError(thrown.toJSON(), thrown)
        const { path = [] } = error
        const nulled = nulledBy(data, path)
        // Of several errors that leave one place null, the first to come is reported, and perhaps more.
        return JSON.stringify(nulled.length === path.length ? error : { nulled })
      })
      return {
        // A poll cursor holds the time of its request.
        data: JSON.stringify(data ?? null).replaceAll(pollCursor, '"poll cursor"'),
        errors: new Set(told),
      }
    }),
  )
}

async function expectEqual(request: RandomRequest, viewer: UserId | undefined) {
  const [interpreted, compiled] = await answersTo(request, viewer)
  if (!interpreted || !compiled) throw new Error('no answer')
  const context = JSON.stringify(request)
  expect(compiled.data, context).toBe(interpreted.data)
  expect(compiled.errors, context).toEqual(interpreted.errors)
  return interpreted
}

const isDocument = (given: unknown): given is DocumentNode =>
  (given as DocumentNode | undefined)?.kind === 'Document'
const queries = Object.values(operations)
  .filter(isDocument)
  .filter((document) => getOperationAST(document)?.operation === 'query')

test('compiled code answers the queries of schema/operations as graphql-js does', async () => {
  expect(queries.length).toBeGreaterThan(20)
  const answers = { data: 0, errors: 0 }
  const anyRequest = fc.gen().map((g) => {
    const document = g(() => fc.constantFrom(...queries))
    const variables: Record<string, unknown> = {}
    for (const { variable, type } of getOperationAST(document)?.variableDefinitions ?? []) {
      const name = variable.name.value
      const given = [...(values[name] ?? [])]
      if (given.length === 0) throw new Error(`the variable ${name} has no values`)
      // Absent, null, wrong, and then mostly values that the field accepts.
      const value = g(() => fc.constantFrom(undefined, null, { wrong: true }, ...given, ...given))
      if (value !== undefined || type.kind === 'NonNullType') variables[name] = value
    }
    return { query: print(document), variables }
  })
  await fc.assert(
    fc.asyncProperty(anyRequest, fc.constantFrom(reader, undefined), async (request, viewer) => {
      const { errors } = await expectEqual(request, viewer)
      answers[errors.size === 0 ? 'data' : 'errors']++
    }),
    { numRuns: lawRuns(150), endOnFailure: true, ...lawSeed() },
  )
  expect(Math.min(answers.data, answers.errors)).toBeGreaterThan(10)
})

test('compiled code answers random queries as graphql-js does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      const request = randomRequest(g, schema, values)
      if (validate(schema, parse(request.query)).length > 0) return
      await expectEqual(request, reader)
    }),
    { numRuns: lawRuns(100), endOnFailure: true, ...lawSeed() },
  )
})
