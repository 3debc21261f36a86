import fc from 'fast-check'
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
} from 'graphql'

/** How documents are generated. */
export interface DocumentOptions {
  readonly depthMax: number
  readonly widthMax: number
  /** The share of selections that the schema does not have, in percent. */
  readonly wrongPercent: number
}

/** Queries of a schema with few aliases, so that many fields have one name in the answer. */
export const arbitraryDocument = (
  schema: GraphQLSchema,
  options: DocumentOptions,
): fc.Arbitrary<string> => fc.gen().map((draw) => new Generator(schema, options, draw).document())

class Generator {
  private readonly fragments = new Map<string, { readonly on: string; readonly text: string }>()

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly options: DocumentOptions,
    private readonly draw: fc.GeneratorValue,
  ) {}

  document(): string {
    const root = this.schema.getQueryType()
    if (!root) throw new Error('the schema has queries')
    const selection = this.selection(root, this.options.depthMax)
    const fragments = [...this.fragments].map(
      ([name, { on, text }]) => `fragment ${name} on ${on} ${text}`,
    )
    return [`query ${selection}`, ...fragments].join(' ')
  }

  private selection(type: GraphQLNamedType, depth: number): string {
    const count = this.int(1, this.options.widthMax)
    return `{ ${Array.from({ length: count }, () => this.part(type, depth)).join(' ')} }`
  }

  private part(type: GraphQLNamedType, depth: number): string {
    if (this.int(1, 100) <= this.options.wrongPercent)
      return this.pick(['nothing', 'id(x: 1)', '...none', '... on Nothing { id }', 'id @unknown'])
    const sort = this.int(1, 10)
    if (sort <= 2 && depth > 0)
      return `... on ${this.pick(this.typesWithin(type))} ${this.inner(type, depth)}`
    if (sort <= 4 && depth > 0) return this.spread(type, depth)
    return this.field(type, depth)
  }

  /** A selection on a type that was picked just now would need its name, so it is that of all. */
  private inner(type: GraphQLNamedType, depth: number): string {
    return this.selection(isAbstractType(type) ? this.common() : type, depth - 1)
  }

  private common(): GraphQLNamedType {
    return (
      Object.values(this.schema.getTypeMap()).find((type) => isInterfaceType(type)) ??
      (this.schema.getQueryType() as GraphQLNamedType)
    )
  }

  private spread(type: GraphQLNamedType, depth: number): string {
    const fitting = [...this.fragments].filter(([, { on }]) => this.typesWithin(type).includes(on))
    if (fitting.length > 0 && this.int(0, 1) === 0)
      return `...${this.pick(fitting.map(([name]) => name))}`
    const on = this.pick(this.typesWithin(type))
    const inside = this.schema.getType(on) as GraphQLNamedType
    const text = this.selection(inside, depth - 1)
    const name = `f${this.fragments.size}`
    this.fragments.set(name, { on, text })
    return `...${name}`
  }

  /** The names of the types on which a fragment may be, within a type. */
  private typesWithin(type: GraphQLNamedType): readonly string[] {
    if (isAbstractType(type))
      return [type.name, ...this.schema.getPossibleTypes(type).map(({ name }) => name)]
    return isObjectType(type) ? [type.name, ...type.getInterfaces().map(({ name }) => name)] : []
  }

  private field(type: GraphQLNamedType, depth: number): string {
    const own = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []
    const fields = own.filter((one) => depth > 0 || !isCompositeType(getNamedType(one.type)))
    const field = fields.length > 0 && !isUnionType(type) ? this.pick(fields) : undefined
    const alias = this.pick(['', '', '', 'a: ', 'b: '])
    if (!field) return `${alias}__typename`
    const inner = getNamedType(field.type)
    const below = isCompositeType(inner) ? ` ${this.selection(inner, depth - 1)}` : ''
    return `${alias}${field.name}${this.args(field)}${below}`
  }

  private args({ args }: GraphQLField<unknown, unknown>): string {
    const given = args.filter((one) => isRequiredArgument(one) || this.int(0, 2) === 0)
    if (given.length === 0) return ''
    return `(${given.map(({ name, type }) => `${name}: ${this.literal(type)}`).join(', ')})`
  }

  private literal(type: GraphQLInputType): string {
    const inner = getNullableType(type)
    if (isListType(inner)) return `[${this.literal(inner.ofType)}]`
    if (isEnumType(inner)) return this.pick(inner.getValues().map(({ name }) => name))
    if (isInputObjectType(inner)) {
      const fields = Object.values(inner.getFields()).filter(isRequiredInputField)
      return `{${fields.map((one) => `${one.name}: ${this.literal(one.type)}`).join(', ')}}`
    }
    const byType: Record<string, readonly string[]> = {
      Int: ['1', '2'],
      Boolean: ['true', 'false'],
    }
    return this.pick(byType[inner.toString()] ?? ['"ann"', '"ben"'])
  }

  private int(min: number, max: number): number {
    return this.draw(fc.integer, { min, max })
  }

  private pick<Item>(items: readonly Item[]): Item {
    return items[this.int(0, items.length - 1)] as Item
  }
}
