import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLError,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql'
import { limitError, limits } from './limits.ts'

/** What a selection holds once its fragments are expanded. */
type Size = Record<'selections' | 'depth' | 'aliases' | 'directives', number>

const nothing: Readonly<Size> = { selections: 0, depth: 0, aliases: 0, directives: 0 }

/**
 * The limit that an operation of a document exceeds, or all operations together that of selections,
 * once fragments are expanded. Visits each node of the document once. A fragment within itself
 * counts as empty, because validation refuses it.
 */
export function findExceededLimit({ definitions }: DocumentNode): GraphQLError | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const one of definitions) {
    if (one.kind === 'FragmentDefinition') fragments.set(one.name.value, one)
  }
  const measured = new Measured(fragments)
  let selections = 0
  for (const one of definitions) {
    if (one.kind !== 'OperationDefinition') continue
    const own = measured.sizeOf(one)
    selections += own.selections
    const size = { ...own, selections }
    for (const limit of ['selections', 'depth', 'aliases', 'directives'] as const) {
      if (size[limit] > limits[limit]) return limitError(limit)
    }
  }
  return undefined
}

class Measured {
  private readonly sizes = new Map<string, Readonly<Size>>()

  constructor(private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>) {}

  sizeOf({
    selectionSet,
    directives = [],
  }: OperationDefinitionNode | FragmentDefinitionNode): Readonly<Size> {
    const size = this.sizeOfSet(selectionSet)
    return { ...size, directives: size.directives + directives.length }
  }

  private sizeOfSet(set: SelectionSetNode | undefined): Readonly<Size> {
    if (!set) return nothing
    const total = { ...nothing }
    for (const node of set.selections) {
      const below = this.sizeBelow(node)
      total.selections += 1 + below.selections
      total.depth = Math.max(total.depth, below.depth + depthOf(node))
      total.aliases += below.aliases + (node.kind === 'Field' && node.alias ? 1 : 0)
      total.directives += below.directives + (node.directives?.length ?? 0)
    }
    return total
  }

  private sizeBelow(node: SelectionNode): Readonly<Size> {
    if (node.kind === 'FragmentSpread') return this.sizeOfFragment(node.name.value)
    const size = this.sizeOfSet(node.selectionSet)
    // Introspection queries are deep, and have a limit of their own.
    const isIntrospection = node.kind === 'Field' && node.name.value === '__schema'
    return isIntrospection ? { ...size, depth: 0 } : size
  }

  private sizeOfFragment(name: string): Readonly<Size> {
    const before = this.sizes.get(name)
    if (before) return before
    this.sizes.set(name, nothing)
    const fragment = this.fragments.get(name)
    const size = fragment ? this.sizeOf(fragment) : nothing
    this.sizes.set(name, size)
    return size
  }
}

const depthOf = ({ kind }: SelectionNode): number => (kind === 'Field' ? 1 : 0)
