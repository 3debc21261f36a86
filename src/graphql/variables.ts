import {
  coerceInputValue,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql'
import type { WrongArgument } from '../errors.ts'
import { shorten, withoutSuggestion } from './errors.ts'

/** Variables hold up to 100 KB, so that many of them could be wrong. */
const wrongMax = 20

/**
 * Finds what graphql-js refuses in the variables of a request: the first 20 places, each by the
 * path from the name of its variable, such as `input.text`. Sends no command.
 */
export function findWrongVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  values: Readonly<Record<string, unknown>>,
): readonly WrongArgument[] {
  const wrong: WrongArgument[] = []
  const note = (argument: string, problem: string) => {
    wrong.push({ argument, message: shorten(problem) })
    if (wrong.length === wrongMax) throw enough
  }
  try {
    noteWrong(schema, definitions, values, note)
  } catch (error) {
    if (error !== enough) throw error
  }
  return wrong
}

/** Ends the search. */
const enough = new Error('enough wrong variables are known')

function noteWrong(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  values: Readonly<Record<string, unknown>>,
  note: (argument: string, problem: string) => void,
): void {
  for (const { variable, type: typeNode, defaultValue } of definitions) {
    const name = variable.name.value
    const type = typeFromAST(schema, typeNode)
    if (!isInputType(type)) continue
    if (!Object.hasOwn(values, name)) {
      if (isNonNullType(type) && !defaultValue) note(name, 'is required')
    } else if (values[name] === null && isNonNullType(type)) {
      note(name, 'must not be null')
    } else {
      coerceInputValue(values[name], type, (path, _, { message }) =>
        note([name, ...path].join('.'), withoutSuggestion(message)),
      )
    }
  }
}
