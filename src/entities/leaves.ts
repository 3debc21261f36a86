import { conforms, date, type Shape, text } from '../db/shape.ts'
import { badInput } from '../errors.ts'
import { checkedText, type TextRules } from '../lib/text.ts'
import { checkedUrl } from '../lib/url.ts'

/** The values of leaves, by the names of their types. */
export interface LeafValues {
  readonly text: string
  readonly flag: boolean
  readonly time: Date
}

export type LeafType = keyof LeafValues

/** The shapes of leaves in documents. */
const leafShapes: Readonly<Record<LeafType, Shape>> = {
  text,
  flag: { bsonType: 'bool' },
  time: date,
}

interface LeafOf<Type extends LeafType> {
  readonly type: Type
  /** Of the field of the schema. */
  readonly description: string
  /** What a client may set. Absent: the server alone sets the value. */
  readonly given?: Given<Type>
}

interface Given<Type extends LeafType> {
  /** Of the field of inputs, without its full stop. */
  readonly description: string
  /**
   * The value in its stored form.
   * @throws {DomainError} BAD_USER_INPUT that names the argument.
   */
  readonly check: (argument: string, value: LeafValues[Type]) => LeafValues[Type]
}

/**
 * A field whose value has no parts. Its name is the same in documents and in the schema. An object
 * may lack it: then it is null.
 */
export type Leaf =
  | LeafOf<'text'>
  | LeafOf<'flag'>
  | (LeafOf<'time'> & { readonly given?: undefined })
/** One that every object has, also those that were stored before the row was. */
export type RequiredLeaf = Required<LeafOf<'text'>> & { readonly isRequired: true }
export type Leaves = Readonly<Record<string, Leaf | RequiredLeaf>>

/** What rules of visibility know of an object. */
export type Fact = {
  [Type in LeafType]: {
    readonly type: Type
    /** What rules see for a stored value of another shape. It must hide what any value hides. */
    readonly whenMalformed: LeafValues[Type]
  }
}[LeafType]

/** The rows of a table, as far as values depend on them. */
type Typed = Readonly<Record<string, { readonly type: LeafType }>>
type RequiredOf<Table extends Typed> = {
  [Name in keyof Table]: Table[Name] extends { readonly isRequired: true } ? Name : never
}[keyof Table]
type ValueOf<Row extends Typed[string]> = LeafValues[Row['type']]

/** The values of the leaves of a table. */
export type ValuesOf<Table extends Typed> = {
  readonly [Name in RequiredOf<Table>]: ValueOf<Table[Name]>
} & { readonly [Name in Exclude<keyof Table, RequiredOf<Table>>]?: ValueOf<Table[Name]> }

type GivenIn<Table extends Typed> = {
  [Name in keyof Table]: Table[Name] extends { readonly given: object } ? Name : never
}[keyof Table]

/** The values that a client gives for leaves of a table. Null, and an empty text, is no value. */
export type GivenOf<Table extends Typed> = {
  readonly [Name in RequiredOf<Table>]: ValueOf<Table[Name]>
} & {
  readonly [Name in Exclude<GivenIn<Table>, RequiredOf<Table>>]?:
    | ValueOf<Table[Name]>
    | null
    | undefined
}

/** The names of a table, in its order. */
export const namesOf = <Table extends object>(table: Table) =>
  Object.keys(table) as unknown as readonly (keyof Table & string)[]

/** The leaves that a client may set, each with what describes and checks its values. */
export const givenLeaves = (table: Leaves) =>
  Object.entries(table).flatMap(([name, { given, ...row }]) =>
    given ? [[name, { ...row, ...given }] as const] : [],
  )

type Shapes = Readonly<Record<string, Shape>>

/** The shapes of the leaves of a table: of those that each document has, and of the others. */
export function shapesOf(table: Typed): { readonly required: Shapes; readonly optional: Shapes } {
  const shapes = (isRequired: boolean) =>
    Object.fromEntries(
      Object.entries(table).flatMap(([name, row]) =>
        'isRequired' in row === isRequired ? [[name, leafShapes[row.type]]] : [],
      ),
    )
  return { required: shapes(true), optional: shapes(false) }
}

/**
 * For `checkAll`: what checks each leaf that is among the given values. No value becomes null, but
 * for a required leaf.
 */
export const leafChecks = (
  table: Leaves,
  values: Readonly<Record<string, unknown>>,
): Record<string, () => unknown> =>
  Object.fromEntries(
    givenLeaves(table).flatMap(([name, { check, ...row }]) => {
      const value = values[name]
      if (value === undefined) return []
      const isNone = !('isRequired' in row) && (value === null || value === '')
      return [[name, () => (isNone ? null : check(`input.${name}`, value as never))]]
    }),
  )

/** The values of the leaves that an object has. Null is none, as is a time beyond JavaScript's. */
export function valuesOf<Table extends Typed>(table: Table, of: object): ValuesOf<Table> {
  const values: Record<string, unknown> = {}
  const given = of as Readonly<Record<string, unknown>>
  for (const name in table) {
    const value = given[name]
    if (value !== undefined && value !== null && !isTooFar(value)) values[name] = value
  }
  return values as ValuesOf<Table>
}

/** BSON has times beyond those of JavaScript. */
const isTooFar = (value: unknown) => value instanceof Date && Number.isNaN(value.getTime())

/** The value of a fact in a document, as rules see it. */
export const factOf = ({ type, whenMalformed }: Fact, value: unknown): unknown =>
  value === undefined || value === null
    ? undefined
    : conforms(leafShapes[type], value) && !isTooFar(value)
      ? value
      : whenMalformed

/** @throws {DomainError} BAD_USER_INPUT that names the argument. */
export function checkText(argument: string, given: string, rules: TextRules): string {
  const { text, problem } = checkedText(given, rules)
  if (problem !== undefined) throw badInput(argument, problem)
  return text
}

/** @throws {DomainError} BAD_USER_INPUT that names the argument. */
export function checkUrl(argument: string, given: string): string {
  const { url, problem } = checkedUrl(given)
  if (problem !== undefined) throw badInput(argument, problem)
  return url
}
