import { ApolloServerErrorCode, ApolloServerValidationErrorCode } from '@apollo/server/errors'
import fc from 'fast-check'
import {
  type GraphQLInputType,
  GraphQLInt,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorCodes } from '../../src/errors.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { type GraphqlRequest, useApp } from '../support/app.ts'
import { lawSeed } from '../support/seed.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
beforeAll(() => openAccounts(app.services, [handle('ann')]))

/** A request that a client can send by mistake or on purpose. */
interface Mistake {
  readonly request: GraphqlRequest
  /** Default: any status below 500. */
  readonly status?: number
  readonly code: string
  readonly argument?: string
  readonly message: RegExp
}

/** A document by its hash. */
const persisted = (
  persistedQuery: unknown,
  more: object,
  expected: Omit<Mistake, 'request'>,
): Mistake => ({
  request: { body: JSON.stringify({ ...more, extensions: { persistedQuery } }) },
  ...expected,
})
const unknownHash = {
  status: 200,
  code: 'PERSISTED_QUERY_NOT_FOUND',
  // Clients send the whole document if they find this message.
  message: /^PersistedQueryNotFound$/,
}
const wrongHash = { status: 400, code: 'PERSISTED_QUERY_HASH_MISMATCH', message: /SHA-256/ }
const wrongForm = { status: 400, code: 'BAD_REQUEST', message: /version 1 and a sha256Hash/ }
const notInList = { status: 400, code: 'PERSISTED_QUERY_NOT_IN_LIST', message: /trusted/ }
const subscription = (query: string): Mistake => ({
  request: { query },
  status: 400,
  code: 'GRAPHQL_VALIDATION_FAILED',
  message: /^This server has no subscriptions: poll the query timelineNews/,
})
const nullVariable = (
  argument: string,
  query: string,
  message = /null|invalid value/,
): Mistake => ({
  request: { as: 'ann', query, variables: { v: null } },
  code: 'BAD_USER_INPUT',
  argument,
  message,
})

const viewer = '{ viewer { handle } }'
const mistakes: Readonly<Record<string, Mistake>> = {
  'an unknown hash': persisted({ version: 1, sha256Hash: 'x' }, {}, unknownHash),
  'an unknown hash with a query of null': persisted(
    ...([{ version: 1, sha256Hash: 'x' }, { query: null }, unknownHash] as const),
  ),
  'a hash of another document': persisted(
    ...([{ version: 1, sha256Hash: '0'.repeat(64) }, { query: viewer }, wrongHash] as const),
  ),
  'the hash of another version': persisted({ version: 2, sha256Hash: 'x' }, {}, wrongForm),
  'no hash': persisted({ version: 1 }, { query: viewer }, wrongForm),
  'a hash that is no text': persisted({ version: 1, sha256Hash: { toString: 1 } }, {}, wrongForm),
  'a hash that is no object': persisted(true, {}, wrongForm),
  'an unknown documentId': { request: { body: '{"documentId":"x"}' }, ...notInList },
  'an id that is no text': { request: { body: '{"id":{"$ne":1}}' }, ...notInList },
  'two ids': {
    request: { body: '{"id":"a","doc_id":"a"}' },
    ...{ status: 400, code: 'BAD_REQUEST', message: /more than once/ },
  },
  'a subscription': subscription('subscription { x }'),
  'a subscription with variables, fragments and unknown fields': subscription(
    'subscription A($a: Nothing!, $b: Int) { x(y: $z) { ...F ...G } } fragment F on User { x }',
  ),
  'a subscription beside a query': subscription('query A { nothing } subscription B { x }'),
  'a subscription of the type name': subscription('subscription A { __typename }'),
  'null for a required argument with a default': nullVariable(
    'handle',
    'query ($v: String = "ann") { user(handle: $v) { name } }',
  ),
  'null for @include': nullVariable(
    'if',
    'query ($v: Boolean = true) { viewer @include(if: $v) { handle } }',
  ),
  'null for @include of a nested field': nullVariable(
    'if',
    'query ($v: Boolean = true) { user(handle: "ann") { name @include(if: $v) } }',
  ),
  'null for @skip of a fragment': nullVariable(
    'if',
    'query ($v: Boolean = true) { viewer { ...f @skip(if: $v) } } fragment f on Viewer { handle }',
  ),
  'null in a list': nullVariable('ids', 'query ($v: ID = "x") { nodes(ids: [$v]) { id } }'),
  'null for an input': nullVariable(
    'input',
    'mutation ($v: CreatePostInput = {text: "x"}) { createPost(input: $v) { clientMutationId } }',
  ),
  'null in an input': nullVariable(
    'input',
    'mutation ($v: String = "x") { createPost(input: {text: $v}) { clientMutationId } }',
  ),
}

describe.each(Object.entries(mistakes))('%s', (_, { request, status, code, argument, message }) => {
  test('the mistake of a client has a documented code and is not logged', async () => {
    const seen = app.logged.length
    const headers = { accept: 'application/graphql-response+json' }
    const answer = await app.send({ ...request, headers })
    expect(answer.errors).toHaveLength(1)
    const [error] = answer.errors
    expect(answer.status).toBeLessThan(500)
    expect([answer.status, error?.extensions.code]).toEqual([status ?? answer.status, code])
    expect(error?.extensions.argument).toBe(argument)
    expect(error?.message).toMatch(message)
    expect(app.logged.slice(seen)).toEqual([])
  })
})

test('every error code of Apollo Server is a documented code, except codes of disabled features', () => {
  const disabled = ['PERSISTED_QUERY_NOT_SUPPORTED']
  const codes = Object.values(ApolloServerErrorCode).filter((code) => !disabled.includes(code))
  expect(codes.filter((code) => !(code in errorCodes))).toEqual([])
  // Both are details of GRAPHQL_VALIDATION_FAILED.
  expect(Object.values(ApolloServerValidationErrorCode)).toEqual([
    'INTROSPECTION_DISABLED',
    'MAX_RECURSIVE_SELECTIONS_EXCEEDED',
  ])
})

/** A value of an input type, in GraphQL. */
function literalOf(type: GraphQLInputType): string {
  const inner = getNullableType(type)
  if (isListType(inner)) return '[]'
  if (isEnumType(inner)) return inner.getValues()[0]?.name ?? ''
  if (isInputObjectType(inner)) {
    const required = Object.values(inner.getFields()).filter(isRequiredInputField)
    return `{${required.map((field) => `${field.name}: ${literalOf(field.type)}`).join(', ')}}`
  }
  return inner === GraphQLInt ? '1' : '"ann"'
}

/**
 * A document for each argument of a root field. Its value is a variable that may be null, because
 * it has a default.
 */
const documents = (['query', 'mutation'] as const).flatMap((operation) => {
  const schema = createSchema()
  const root = operation === 'query' ? schema.getQueryType() : schema.getMutationType()
  return Object.values(root?.getFields() ?? {}).flatMap((field) =>
    field.args.map((argument) => {
      const others = field.args.filter((other) => other !== argument && isRequiredArgument(other))
      const given = others.map((other) => `${other.name}: ${literalOf(other.type)}`)
      const variable = `$v: ${getNullableType(argument.type)} = ${literalOf(argument.type)}`
      const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }'
      return `${operation} (${variable}) { ${field.name}(${[`${argument.name}: $v`, ...given]}) ${selection} }`
    }),
  )
})

test('no value of a variable causes an internal error or a line in the log', async () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(null, '', 'ann', '__proto__', '\u0000', '\ud800', -1, 1e308, 2 ** 31, [], {}),
    fc.record({ text: fc.jsonValue(), handle: fc.jsonValue(), clientMutationId: fc.jsonValue() }),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...documents), value, async (query, v) => {
      const seen = app.logged.length
      const { errors } = await app.send({ as: 'ann', query, variables: { v } })
      const codes = errors.map(({ extensions }) => extensions.code)
      expect(codes).not.toContain('INTERNAL_SERVER_ERROR')
      expect(app.logged.slice(seen)).toEqual([])
    }),
    { numRuns: 150, ...lawSeed() },
  )
})
