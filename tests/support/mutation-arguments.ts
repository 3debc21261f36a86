import { astFromValue, getNamedType, isInputObjectType, isRequiredInputField, print } from 'graphql'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()

/**
 * The arguments of a mutation, in GraphQL: each field of its input that `values` names.
 * @throws if a required field of the input is not among `values`.
 */
export function mutationArguments(
  mutation: string,
  values: Readonly<Record<string, unknown>>,
): string {
  const input = getNamedType(schema.getMutationType()?.getFields()[mutation]?.args[0]?.type)
  if (!isInputObjectType(input)) throw new Error(`${mutation} has no input`)
  const fields = Object.values(input.getFields()).flatMap((field) => {
    const value = astFromValue(values[field.name], field.type)
    if (value) return [`${field.name}: ${print(value)}`]
    if (isRequiredInputField(field)) throw new Error(`${mutation} requires input.${field.name}`)
    return []
  })
  return `(input: {${fields.join(', ')}})`
}
