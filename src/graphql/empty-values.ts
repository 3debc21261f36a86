import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql'
import { profileLeaves } from '../entities/account.ts'
import { givenLeaves } from '../entities/leaves.ts'

// Clients of some languages send "", 0 and [] for what was not set. Here is the one rule for all
// arguments and input fields that may be absent: an empty value, and null, means absent.

/** Fields whose empty value means something else, each with its meaning. */
export const meaningfulEmpties: Readonly<Record<string, string>> = {
  'UpdateUserInput.name': 'refused, because an account always has a name',
  ...Object.fromEntries(
    givenLeaves(profileLeaves).map(([name]) => [`UpdateUserInput.${name}`, 'removes the value']),
  ),
}

/**
 * The arguments whose 0 is a page without items. One of them that is 0 beside the other is absent.
 */
const sizes: Readonly<Record<string, string>> = { first: 'last', last: 'first' }

type Values = Readonly<Record<string, unknown>>
interface InputField {
  readonly name: string
  readonly type: GraphQLInputType
}

const isEmpty = (value: unknown): boolean =>
  value == null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0)

/**
 * The coerced values of arguments or of an input object, without those that mean the same as
 * absent.
 */
export function withoutEmpty(
  fields: readonly InputField[],
  values: Values,
  typeName?: string,
): Values {
  const kept: Record<string, unknown> = { ...values }
  for (const { name, type } of fields) {
    if (!(name in values)) continue
    const value = valueWithoutEmpty(type, values[name])
    const other = sizes[name]
    const isSize = value === 0 && other !== undefined && values[other] == null
    const isAbsent =
      isEmpty(value) &&
      !isNonNullType(type) &&
      !isSize &&
      !(`${typeName}.${name}` in meaningfulEmpties)
    if (isAbsent) delete kept[name]
    else kept[name] = value
  }
  return kept
}

function valueWithoutEmpty(type: GraphQLInputType, value: unknown): unknown {
  const nullable = getNullableType(type)
  if (isListType(nullable) && Array.isArray(value)) {
    return value.map((item) => valueWithoutEmpty(nullable.ofType, item))
  }
  if (!isInputObjectType(nullable) || typeof value !== 'object' || value === null) return value
  // Its only member names something, empty or not.
  if (nullable.isOneOf) return value
  return withoutEmpty(Object.values(nullable.getFields()), value as Values, nullable.name)
}

/** Makes every resolver of a schema get its arguments {@link withoutEmpty}. */
export function ignoreEmptyArguments(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const { args, resolve, ...field } of Object.values(type.getFields())) {
      if (!resolve || args.length === 0) continue
      const own = type.getFields()[field.name] as { resolve: typeof resolve }
      own.resolve = (source, values, context, info) =>
        resolve(source, withoutEmpty(args, values), context, info)
    }
  }
}

/**
 * The variables of a request without the empty values that GraphQL itself refuses: "" for an enum,
 * and an empty member beside the other member of an input with `@oneOf`.
 */
export function acceptEmptyVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Values,
): Record<string, unknown> {
  const accepted: Record<string, unknown> = { ...variables }
  for (const { variable, type: node } of definitions) {
    const name = variable.name.value
    const type = typeFromAST(schema, node) as GraphQLInputType | undefined
    if (type && Object.hasOwn(variables, name)) accepted[name] = accept(type, variables[name])
  }
  return accepted
}

function accept(type: GraphQLInputType, value: unknown): unknown {
  if (value === '' && isEnumType(type)) return null
  const nullable = getNullableType(type)
  if (isListType(nullable)) {
    return Array.isArray(value) ? value.map((item) => accept(nullable.ofType, item)) : value
  }
  if (!isInputObjectType(nullable) || typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const set = nullable.isOneOf ? members.filter(([, member]) => !isEmpty(member)) : members
  const fields = nullable.getFields()
  return Object.fromEntries(
    (set.length > 0 ? set : members).map(([name, member]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      return [name, field ? accept(field.type, member) : member]
    }),
  )
}
