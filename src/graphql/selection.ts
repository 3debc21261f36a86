import type { GraphQLResolveInfo } from 'graphql'
import { parseResolveInfo, type ResolveTree } from 'graphql-parse-resolve-info'

/** Which fields a client asked for below some field: fragments, aliases and directives worked out. */
export interface Selection {
  /** Whether anything at all is asked for. */
  readonly any: boolean
  /** Whether any of `names` is asked for. */
  has(...names: readonly string[]): boolean
  /** Whether anything is asked for beyond `names`. */
  beyond(...names: readonly string[]): boolean
  /** What is asked for below a field, all of its aliases taken together. */
  of(...path: readonly string[]): Selection
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
  }
}

/** What is asked for below the field that is being resolved. */
export function selectionOf(info: GraphQLResolveInfo): Selection {
  const tree = parseResolveInfo(info) as ResolveTree | null | undefined
  return selectionFrom(tree ? [tree] : [])
}
