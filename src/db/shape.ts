/** The BSON types that the shapes use. */
type BsonType =
  | 'objectId'
  | 'string'
  | 'date'
  | 'bool'
  | 'object'
  | 'array'
  | 'int'
  | 'long'
  | 'double'
  | 'null'

/**
 * The shape of a value: the part of JSON Schema that MongoDB's `$jsonSchema` and {@link conforms}
 * both read.
 */
export interface Shape {
  readonly bsonType?: BsonType | readonly BsonType[]
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly multipleOf?: number
  readonly items?: Shape
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  /** Of the fields that `properties` does not name. */
  readonly additionalProperties?: Shape
  readonly anyOf?: readonly Shape[]
}

type Fields = Readonly<Record<string, Shape>>

export const id: Shape = { bsonType: 'objectId' }
export const text: Shape = { bsonType: 'string' }
export const date: Shape = { bsonType: 'date' }
export const set: Shape = { enum: [true] }
/** A whole number that a double holds exactly. `$inc` keeps it one. */
export const whole: Shape = {
  ...{ bsonType: ['int', 'long', 'double'], multipleOf: 1 },
  ...{ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
}
export const count: Shape = { ...whole, minimum: 0 }
export const list = (items: Shape): Shape => ({ bsonType: 'array', items })
export const object = (required: Fields, optional: Fields = {}): Shape => ({
  bsonType: 'object',
  ...(Object.keys(required).length > 0 ? { required: Object.keys(required) } : {}),
  properties: { ...required, ...optional },
})
/**
 * Whether a value that the driver read has a shape, as MongoDB's `$jsonSchema` would say. Pure, and
 * linear in the size of the value.
 */
export function conforms(shape: Shape, value: unknown): boolean {
  const { bsonType, required = [], properties, additionalProperties, items: each, anyOf } = shape
  if (shape.enum && !shape.enum.includes(value)) return false
  if (anyOf && !anyOf.some((one) => conforms(one, value))) return false
  const type = typeOf(value)
  if (
    bsonType &&
    !(typeof bsonType === 'string'
      ? type === bsonType
      : (bsonType as readonly string[]).includes(type))
  )
    return false
  if (typeof value === 'number' && !isInBounds(shape, value)) return false
  if (each && Array.isArray(value) && !value.every((one) => conforms(each, one))) return false
  if (type !== 'object') return true
  return (
    required.every((field) => field in (value as object)) &&
    Object.entries(value as object).every(([name, field]) => {
      const expected = properties?.[name] ?? additionalProperties
      return !expected || conforms(expected, field)
    })
  )
}

const isInBounds = ({ minimum, maximum, multipleOf }: Shape, value: number): boolean =>
  (multipleOf === undefined || Number.isInteger(value)) &&
  (minimum === undefined || value >= minimum) &&
  (maximum === undefined || value <= maximum)

/** The BSON type of a value that the driver read, as far as shapes know it. */
function typeOf(value: unknown): BsonType | 'other' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof Date) return 'date'
  if (value instanceof RegExp) return 'other'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  if (typeof value === 'number') return 'double'
  if (typeof value !== 'object') return 'other'
  const { _bsontype: type } = value as { readonly _bsontype?: unknown }
  if (type === undefined) return 'object'
  return type === 'ObjectId' ? 'objectId' : 'other'
}
