import {
  buildSchema,
  execute,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  type OperationDefinitionNode,
  parse,
} from 'graphql'
import { expect, test } from 'vitest'
import {
  acceptEmptyVariables,
  ignoreEmptyArguments,
  meaningfulEmpties,
} from '../../src/graphql/empty-values.ts'
import { schemaText } from '../../src/graphql/schema.ts'
import { allArguments } from '../attacks/table/values.ts'

const schema = buildSchema(schemaText())
/** What the resolver of a field got, by its name. */
let received: Record<string, unknown> = {}
for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || type.name.startsWith('__')) continue
  for (const field of Object.values(type.getFields())) {
    field.resolve = (_, args) => {
      if (field.args.length > 0)
        received[`${type.name}.${field.name}`] = structuredClone({ ...args })
      return isListType(getNullableType(field.type)) ? [] : { __typename: 'Post' }
    }
  }
}
ignoreEmptyArguments(schema)

/** What the resolvers get of a document, or the first problem. */
async function receivedOf(query: string, variables: object): Promise<unknown> {
  const document = parse(query)
  const { variableDefinitions = [] } = document.definitions[0] as OperationDefinitionNode
  received = {}
  const variableValues = acceptEmptyVariables(schema, variableDefinitions, { ...variables })
  const { errors } = await execute({ schema, document, variableValues, contextValue: {} })
  const problem = errors?.find(({ path }) => path === undefined)
  return problem ? problem.message : JSON.parse(JSON.stringify(received))
}

/** The empty value that a client of another language sends for a type, and null. */
function emptiesOf(type: GraphQLInputType): readonly unknown[] {
  if (isListType(type)) return [[], null]
  if (isInputObjectType(type)) return [null]
  return [isEnumType(type) || ['String', 'ID'].includes(type.toString()) ? '' : 0, null]
}

/** The only values of the schema whose empty value says something, with what it says. */
const meaningful: Readonly<Record<string, string>> = {
  ...meaningfulEmpties,
  first: '0 is a page without items',
  last: '0 is a page without items',
}

/** A value for a required field. */
const filled = (type: GraphQLInputType): unknown => {
  const inner = getNullableType(type)
  if (isListType(inner)) return isInputObjectType(getNullableType(inner.ofType)) ? [] : ['x']
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner)) return { handle: 'ben' }
  return 'x'
}

/**
 * Each value of the schema that may be absent, in a document that sets it to `empty` or leaves it
 * out.
 */
const cases = allArguments.flatMap(({ name, argument, query, type }) => {
  const input = getNullableType(schema.getType(String(getNullableType(type))) ?? type)
  const own = isNonNullType(type)
    ? []
    : emptiesOf(type).map((empty) => ({
        name,
        key: argument,
        query,
        empty: { v: empty },
        absent: {},
      }))
  if (!isInputObjectType(input)) return own
  return [...own, ...inputCases(input, name, (v) => ({ query, variables: { v } }))]
})

type Case = {
  readonly name: string
  readonly key: string
  readonly query: string
  readonly empty: object
  readonly absent: object
}

function inputCases(
  input: GraphQLInputType,
  name: string,
  place: (value: object) => { readonly query: string; readonly variables: object },
): readonly Case[] {
  if (!isInputObjectType(input)) return []
  const fields = Object.values(input.getFields())
  const others = Object.fromEntries(
    fields.filter(isRequiredInputField).map((field) => [field.name, filled(field.type)]),
  )
  const base = input.isOneOf ? { handle: 'ben' } : others
  return fields.flatMap((field) => {
    const inner = getNullableType(field.type)
    const item = isListType(inner) ? getNullableType(inner.ofType) : inner
    const below = inputCases(item, name, (value) =>
      place({ ...base, [field.name]: isListType(inner) ? [value] : value }),
    )
    if (isNonNullType(field.type) || (input.isOneOf && field.name in base)) return below
    const { query, variables: absent } = place(base)
    const own = emptiesOf(inner).map((value) => ({
      name: `${name} ${input.name}.${field.name}`,
      key: `${input.name}.${field.name}`,
      query,
      empty: place({ ...base, [field.name]: value }).variables,
      absent,
    }))
    return [...own, ...below]
  })
}

const unlike = (value: unknown) => JSON.stringify(value)

test('an empty value, and null, is the same as absent for each argument and input field that may be absent', async () => {
  expect(cases.length).toBeGreaterThan(100)
  const different = new Set<string>()
  for (const { name, key, query, empty, absent } of cases) {
    const [one, other] = [await receivedOf(query, empty), await receivedOf(query, absent)]
    expect(typeof one, `${name}: ${one}`).toBe('object')
    if (unlike(one) !== unlike(other)) different.add(key)
  }
  expect([...different].toSorted()).toEqual(Object.keys(meaningful).toSorted())
})

test('a size of 0 beside the other size is absent', async () => {
  const query = 'query ($f: Int, $l: Int) { timeline(first: $f, last: $l) { servedBy } }'
  const sizes = async (f: unknown, l: unknown) => receivedOf(query, { f, l })
  expect(await sizes(0, 5)).toEqual({ 'Query.timeline': { last: 5 } })
  expect(await sizes(5, 0)).toEqual({ 'Query.timeline': { first: 5 } })
  expect(await sizes(0, 0)).toEqual({ 'Query.timeline': {} })
  expect(await sizes(0, null)).toEqual({ 'Query.timeline': { first: 0 } })
})

test('an input with @oneOf keeps one member, and is refused with two', async () => {
  const query = 'mutation ($u: UserRef!) { followUser(input: { user: $u }) { changed } }'
  const follow = async (u: object) => receivedOf(query, { u })
  const named = { 'Mutation.followUser': { input: { user: { handle: 'ben' } } } }
  expect(await follow({ handle: 'ben', id: '' })).toEqual(named)
  expect(await follow({ id: null, handle: 'ben' })).toEqual(named)
  expect(await follow({ handle: 'ben', id: 'x' })).toContain('Exactly one key')
  expect(await follow({ handle: '', id: '' })).toContain('Exactly one key')
})

test('an empty value in a list, or of a required field, stays', async () => {
  const query = 'mutation ($i: SetFollowGroupsInput!) { setFollowGroups(input: $i) { groups } }'
  const i = { user: { handle: '' }, groups: ['', 'a'] }
  expect(await receivedOf(query, { i })).toEqual({ 'Mutation.setFollowGroups': { input: i } })
})
