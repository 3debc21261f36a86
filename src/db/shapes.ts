import { type CollectionName, type CollectionSpec, specs } from './collections.ts'
import type { Document } from './mongo.ts'
import { conforms, type Shape } from './shape.ts'

/** The collections whose documents have a checked shape. */
export type ShapedName = {
  [Name in CollectionName]: (typeof specs)[Name] extends { readonly shape: Shape } ? Name : never
}[CollectionName]

/**
 * The shapes of stored documents. `feedline verify` names each document that has another shape.
 * Reads of a request pass over it. Fields that a later release adds are allowed.
 */
export const shapes = Object.fromEntries(
  Object.entries<CollectionSpec>(specs).flatMap(([name, { shape }]) =>
    shape ? [[name, shape]] : [],
  ),
) as Readonly<Record<ShapedName, Shape>>

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
