import { type ShapedName, shapes } from './collections.ts'
import type { Document } from './mongo.ts'
import { conforms, type Shape } from './shape.ts'

export { type ShapedName, shapes } from './collections.ts'
export { conforms, type Shape } from './shape.ts'

export const shapedNames = Object.keys(shapes) as ShapedName[]

/** A filter that matches the documents of another shape. */
export const malformed = (name: ShapedName): Document => ({ $nor: [{ $jsonSchema: shapes[name] }] })

/** A filter that matches the documents of the right shape. */
export const wellFormed = (name: ShapedName): Document => ({ $jsonSchema: shapes[name] })

/** Whether the given fields of a document have their shapes, if they are there and were read. */
export const fieldsConform = (name: ShapedName, doc: object): boolean =>
  conforms({ bsonType: 'object', properties: shapes[name].properties ?? {} }, doc)

/** The top-level fields of a document that are absent or of another shape. */
export const wrongFields = (name: ShapedName, doc: object): string[] => {
  const { properties = {}, required = [] } = shapes[name] as Shape
  const fields = doc as Readonly<Record<string, unknown>>
  return Object.entries(properties).flatMap(([field, shape]) => {
    const isRight = field in fields ? conforms(shape, fields[field]) : !required.includes(field)
    return isRight ? [] : [field]
  })
}
