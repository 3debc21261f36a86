import {
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'
import { createSchema } from '../../../src/graphql/schema.ts'
import type { PostId } from '../../../src/lib/ids.ts'
import { pollCursors } from '../../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../../src/timeline/pages/poll-cursor.ts'
import { type Attack, documentAttack, existingPost } from '../attack.ts'

const schema = createSchema()
const operators = [{ $ne: 1 }, { $gt: '' }, { $where: 'sleep(5000)' }, { $regex: '.*' }]
const prototypes = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

/** The JSON values that a type refuses. */
function wrongValues(type: GraphQLInputType): readonly unknown[] {
  if (isNonNullType(type)) {
    const empty = isEnumType(type.ofType) ? [''] : []
    return [null, ...empty, ...wrongValues(type.ofType)]
  }
  if (isListType(type))
    return [...wrongValues(type.ofType).map((value) => [value]), [[[{}]]], ...operators]
  if (isEnumType(type)) return ['X', 1, true, [], {}, ...prototypes, ...operators]
  if (isInputObjectType(type) && type.isOneOf) {
    const fields = Object.values(type.getFields())
    const both = Object.fromEntries(fields.map((field) => [field.name, 'ben']))
    const wrong = fields.flatMap((field) =>
      [null, ...wrongValues(field.type)].map((value) => ({ [field.name]: value })),
    )
    return ['x', 5, true, {}, { a: 1 }, both, ...wrong]
  }
  if (isInputObjectType(type)) {
    const valid = validValue(type) as object
    const fields = Object.values(type.getFields()).flatMap((field) =>
      wrongValues(field.type).map((value) => ({ ...valid, [field.name]: value })),
    )
    const missing = Object.values(type.getFields())
      .filter(isRequiredInputField)
      .map(({ name }) => ({ ...valid, [name]: undefined }))
    const unknown = [...prototypes.slice(1), '$ne', 'a.b', 'admin'].map((name) => ({
      ...valid,
      [name]: 1,
    }))
    return ['x', 5, true, [valid, valid], ...missing, ...unknown, ...fields]
  }
  switch (getNamedType(type).name) {
    case 'Int':
      return ['5', 1.5, 2_147_483_648, -1e308, true, [], [5], {}, ...operators]
    case 'Boolean':
      return ['true', 0, [], {}, ...operators]
    case 'ID':
      return [1.5, true, [[]], {}, ...operators]
    default:
      return [5, true, [[]], {}, ...operators]
  }
}

/** A value that a type accepts. */
function validValue(type: GraphQLInputType, name = ''): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return []
  if (isEnumType(inner)) return inner.getValues()[0]?.name
  if (isInputObjectType(inner) && inner.isOneOf) return { handle: 'ben' }
  if (isInputObjectType(inner)) {
    const fields = Object.values(inner.getFields()).filter(isRequiredInputField)
    return Object.fromEntries(
      fields.map((field) => [field.name, validValue(field.type, field.name)]),
    )
  }
  return (
    { Int: 1, Boolean: true, ID: existingPost }[inner.name] ??
    (name === 'url' ? 'https://a.example' : 'ben')
  )
}

/** A selection around a field of a type, from the root. */
const places: Readonly<Record<string, (field: string) => string>> = {
  Query: (field) => `{ ${field} }`,
  Mutation: (field) => `{ ${field} }`,
  User: (field) => `{ user(handle: "ben") { ${field} } }`,
  Viewer: (field) => `{ viewer { ${field} } }`,
  Post: (field) => `{ node(id: "${existingPost}") { ... on Post { ${field} } } }`,
}

/** An argument of a field, as a variable. */
export interface Argument {
  /** E.g. `User.posts(first)`. */
  readonly name: string
  readonly argument: string
  readonly type: GraphQLInputType
  /** A document whose variable `$v` of this type is the value of the argument. */
  readonly query: string
}

/** Valid values of required arguments, by name, where the type alone has none. */
const validArguments: Readonly<Record<string, string>> = {
  since: pollCursors.encode(startingAt('6'.repeat(24) as PostId)),
}

/** Every argument of every field of the schema. */
export const allArguments: readonly Argument[] = Object.values(schema.getTypeMap())
  .filter((type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'))
  .flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args.map((argument) => {
        const place = places[type.name]
        if (!place) throw new Error(`no document reaches ${type.name}.${field.name}`)
        const given = field.args
          .filter((other) => other !== argument && isRequiredArgument(other))
          .map(
            ({ name, type }) =>
              `${name}: ${JSON.stringify(validArguments[name] ?? validValue(type))}`,
          )
        const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }'
        const use = place(
          `${field.name}(${[`${argument.name}: $v`, ...given].join(', ')}) ${selection}`,
        )
        return {
          name: `${type.name}.${field.name}(${argument.name})`,
          argument: argument.name,
          type: argument.type,
          query: `${type.name === 'Mutation' ? 'mutation' : 'query'} ($v: ${argument.type}) ${use}`,
        }
      }),
    ),
  )

/** Every argument with every value that its type refuses. */
export const values: readonly Attack[] = allArguments.flatMap(({ name, query, type }) =>
  wrongValues(type).map((value) =>
    documentAttack(
      `${name}: ${JSON.stringify(value)?.slice(0, 200)}`,
      query,
      { answer: '400 BAD_USER_INPUT' },
      { v: value },
    ),
  ),
)
