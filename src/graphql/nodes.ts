import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql'
import type { Context } from './context.ts'
import { findNodeRef, type NodeRef, type RefOf } from './node-id.ts'
import { type Selection, selectionOf } from './selection.ts'

/** An object with a global id. */
interface Node {
  readonly id: string
}

/**
 * By the type of their ids, what reads objects together, with all selected fields. Those that the
 * viewer may not see are absent.
 */
export type NodeReaders = {
  readonly [Type in NodeRef['type']]: (
    ctx: Context,
    refs: readonly RefOf<Type>[],
    selection: Selection,
  ) => Promise<Iterable<Node>>
}

/**
 * Reads objects by their global ids, in the order of `ids`. Null for an object that does not exist,
 * also if a post exists under another author, for an object that a block hides, for another viewer,
 * and for a text that is no global id. Reads all objects of a type together.
 */
export async function readNodes(ctx: Context, ids: readonly string[], info: GraphQLResolveInfo) {
  const readers = nodeReadersOf(info.schema)
  const selection = selectionOf(info)
  const refs = ids.flatMap((id) => findNodeRef(id) ?? [])
  const read = async <Type extends NodeRef['type']>(type: Type) => {
    const ofType = refs.filter((ref): ref is RefOf<Type> => ref.type === type)
    return ofType.length > 0 ? [...(await readers[type](ctx, ofType, selection))] : []
  }
  const types = Object.keys(readers) as readonly NodeRef['type'][]
  const nodes = (await Promise.all(types.map(read))).flat()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return ids.map((id) => byId.get(id) ?? null)
}

/** The readers of a schema of `schema.ts`, which holds them as an extension. */
const nodeReadersOf = ({ extensions }: GraphQLSchema): NodeReaders =>
  extensions.nodes as NodeReaders
