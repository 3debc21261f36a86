import { Field } from 'type-graphql'
import type { LeafType } from '../../entities/leaves.ts'
import { GraphQLDateTime } from './date-time.ts'

const types = {
  text: () => String,
  flag: () => Boolean,
  time: () => GraphQLDateTime,
} as const satisfies Readonly<Record<LeafType, () => unknown>>

/** Adds the leaves of a table to a type or an input. All but required ones may be null. */
export function addLeaves(
  type: { readonly prototype: object },
  leaves: readonly (readonly [name: string, LeafField])[],
): void {
  for (const [name, { type: leaf, description, isRequired = false }] of leaves)
    Field(types[leaf], { nullable: !isRequired, description })(type.prototype, name)
}

interface LeafField {
  readonly type: LeafType
  readonly description: string
  readonly isRequired?: true
}
