import type { GeneratorValue } from 'fast-check'
import fc from 'fast-check'
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql'

/** The values of arguments, by the argument's name. */
export type Values = Readonly<Record<string, readonly unknown[]>>

/** A request with a document that the schema admits. */
export interface RandomRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** Bounds under the limits of a request, so that only the cost refuses documents. */
const aliasesMax = 29
const directivesMax = 29
const fieldsMax = 100
const depthMax = 9

/**
 * A random query: any fields, arguments, aliases, inline and named fragments, directives and
 * variables.
 * @param values what arguments may be, with at least one value for each required argument.
 */
export function randomRequest(g: GeneratorValue, schema: GraphQLSchema, values: Values) {
  const query = schema.getQueryType()
  if (!query) throw new Error('the schema has no Query')
  const writer = new Writer(g, schema, values)
  const selection = writer.selection(query, depthMax)
  const variables = [...writer.types].map(([name, type]) => `$${name}: ${type}`)
  const head = variables.length > 0 ? `query (${variables.join(', ')}) ` : ''
  const request: RandomRequest = {
    query: [head + selection, ...writer.fragments].join('\n'),
    variables: writer.variables,
  }
  return request
}

class Writer {
  readonly types = new Map<string, string>()
  readonly variables: Record<string, unknown> = {}
  readonly fragments: string[] = []
  private fields = 0
  private aliases = 0
  private directives = 0

  constructor(
    private readonly g: GeneratorValue,
    private readonly schema: GraphQLSchema,
    private readonly values: Values,
  ) {}

  selection(type: GraphQLNamedType, depth: number): string {
    const parts = Array.from({ length: this.number(1, 5) }, () => this.part(type, depth))
    return `{ ${parts.join(' ')} }`
  }

  private part(type: GraphQLNamedType, depth: number): string {
    const shape = this.number(0, 9)
    const below = isInterfaceType(type) ? this.one(this.schema.getPossibleTypes(type)) : type
    if (depth > 1 && (shape === 0 || below !== type))
      return `... on ${below.name} ${this.selection(below, depth - 1)}`
    if (depth > 1 && shape === 1) {
      const text = this.selection(type, depth - 1)
      const name = `f${this.fragments.length}`
      this.fragments.push(`fragment ${name} on ${type.name} ${text}`)
      return `...${name}`
    }
    const isDirected = shape === 2 && ++this.directives <= directivesMax
    return this.field(type, depth, isDirected ? ' @include(if: true)' : '')
  }

  private field(type: GraphQLNamedType, depth: number, directive: string): string {
    const isOpen = ++this.fields < fieldsMax
    const all = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []
    const fitting = all.filter(({ args, type: of }) => {
      const isLeaf = isLeafType(getNamedType(of))
      return (isLeaf || (depth > 1 && isOpen)) && (args.length === 0 || this.aliases < aliasesMax)
    })
    if (fitting.length === 0) return '__typename'
    // Fields with selections twice as often, because these send commands.
    const deep = fitting.filter((one) => !isLeafType(getNamedType(one.type)))
    const chosen = this.one([...fitting, ...deep, ...deep])
    // Fields of equal names and other types cannot be selected together.
    const isOwn = type.name === 'Viewer' && chosen.name === 'handle'
    const alias = chosen.args.length > 0 ? `a${this.aliases++}: ` : isOwn ? 'own: ' : ''
    const named = getNamedType(chosen.type)
    const selection = isLeafType(named) ? '' : ` ${this.selection(named, depth - 1)}`
    return `${alias}${chosen.name}${this.args(chosen)}${directive}${selection}`
  }

  private args({ args }: GraphQLField<unknown, unknown>): string {
    const unused = this.number(0, 1) === 0 ? 'first' : 'last'
    const given = args.flatMap(({ name, type }) => {
      const isRequired = String(type).endsWith('!')
      if (name === unused || (!isRequired && this.number(0, 2) === 0)) return []
      const value = this.one(this.values[name] ?? [])
      if (this.number(0, 2) > 0) return [`${name}: ${literalOf(String(type), value)}`]
      const variable = `v${this.types.size}`
      this.types.set(variable, String(type))
      this.variables[variable] = value
      return [`${name}: $${variable}`]
    })
    return given.length > 0 ? `(${given.join(', ')})` : ''
  }

  private number(min: number, max: number): number {
    return this.g(fc.integer, { min, max })
  }

  private one<T>(values: readonly T[]): T {
    if (values.length === 0) throw new Error('an argument has no values')
    return values[this.number(0, values.length - 1)] as T
  }
}

const literalOf = (type: string, value: unknown): string =>
  /^(FeedStrategy|ErrorCode)/.test(type) ? String(value) : JSON.stringify(value)
