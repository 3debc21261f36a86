import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql'
import { parseResolveInfo, type ResolveTree } from 'graphql-parse-resolve-info'
import { groupBy } from '../lib/batch.ts'
import { describedSchemaOf } from './assemble.ts'

/** The selected fields below a field, with fragments, aliases and directives resolved. */
export interface Selection {
  /** Whether any field is selected. */
  readonly any: boolean
  /** Whether at least one of `names` is selected. */
  has(...names: readonly string[]): boolean
  /** Whether a field other than `names` is selected. */
  beyond(...names: readonly string[]): boolean
  /** The selection below a field, with all aliases of the field merged. */
  of(...path: readonly string[]): Selection
  /** The uses of a field, each with its response key and its own selection. */
  uses(name: string): readonly { readonly key: string; readonly selection: Selection }[]
}

const treesBelow = (trees: readonly ResolveTree[]): ResolveTree[] =>
  trees.flatMap((tree) =>
    Object.values(tree.fieldsByTypeName).flatMap((byAlias) => Object.values(byAlias)),
  )

function selectionFrom(trees: readonly ResolveTree[]): Selection {
  const fields = treesBelow(trees)
  const asked = new Set(fields.map(({ name }) => name))
  return {
    any: fields.length > 0,
    has: (...names) => names.some((name) => asked.has(name)),
    beyond: (...names) => [...asked].some((name) => !names.includes(name) && name !== '__typename'),
    of: (name, ...rest) => {
      if (name === undefined) return selectionFrom(trees)
      const below = selectionFrom(fields.filter((field) => field.name === name))
      return rest.length === 0 ? below : below.of(...rest)
    },
    uses: (name) => {
      const byKey = groupBy(
        fields.filter((field) => field.name === name),
        ({ alias }) => alias,
      )
      return [...byKey].map(([key, some]) => ({ key, selection: selectionFrom(some) }))
    },
  }
}

/** The selection below the field that is being resolved. */
export function selectionOf(info: GraphQLResolveInfo): Selection {
  const schema = describedSchemaOf(info.schema)
  const parentType = schema.getType(info.parentType.name) as GraphQLObjectType
  const tree = parseResolveInfo({ ...info, schema, parentType }) as ResolveTree | null | undefined
  return selectionFrom(tree ? [tree] : [])
}
