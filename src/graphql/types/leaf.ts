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
  for (const [name, leaf] of leaves) {
    const { description } = leaf
    const nullable = !('isRequired' in leaf)
    Field(types[leaf.type], { nullable, description })(type.prototype, name)
  }
}

interface LeafField {
  readonly type: LeafType
  readonly description: string
  readonly isRequired?: true
}
