import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql'
import { expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()

test('every type, field, argument, enum value and input field has a description', () => {
  const parts = ownTypes().flatMap(partsOf)
  expect(parts.length).toBeGreaterThan(200)
  const silent = parts.filter(({ description }) => !description?.trim().match(/^[A-Z`].*\.$/s))
  expect(silent.map(({ coordinate }) => coordinate)).toEqual([])
})

test('the only custom scalar is the timestamp, and the schema names its specification', () => {
  const scalars = ownTypes().filter(isScalarType)
  expect(scalars.map(({ name, specifiedByURL }) => [name, specifiedByURL])).toEqual([
    ['DateTime', 'https://scalars.graphql.org/andimarek/date-time.html'],
  ])
})

const ownTypes = () =>
  Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  )

interface Part {
  readonly coordinate: string
  readonly description: string | null | undefined
}

/** A type with all that stands inside it, each by its schema coordinate. */
function partsOf(type: GraphQLNamedType): Part[] {
  const inside = (name: string, { description }: Pick<Part, 'description'>): Part => ({
    coordinate: `${type.name}.${name}`,
    description,
  })
  const self = { coordinate: type.name, description: type.description }
  if (isEnumType(type)) return [self, ...type.getValues().map((one) => inside(one.name, one))]
  if (isInputObjectType(type)) {
    return [self, ...Object.values(type.getFields()).map((one) => inside(one.name, one))]
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [self]
  const fields = Object.values(type.getFields()).flatMap((field) => [
    inside(field.name, field),
    ...field.args.map((one) => inside(`${field.name}(${one.name}:)`, one)),
  ])
  return [self, ...fields]
}
