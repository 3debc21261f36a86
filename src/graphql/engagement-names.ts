import { type EngagementKind, kinds } from '../engagement/kinds.ts'

/** The names in the schema that derive from the row of a kind. */
export function schemaNames(kind: EngagementKind) {
  const { node, add, remove } = kinds[kind]
  const entry = `${node.type.charAt(0).toLowerCase()}${node.type.slice(1)}`
  return {
    /** The field with the new entry, such as `comment`. */
    entry,
    /** The input field with the global id of an entry, such as `commentId`. */
    entryId: `${entry}Id`,
    /** The field with the global id of a deleted entry, such as `deletedCommentId`. */
    deletedId: `deleted${node.type}Id`,
    addInput: `${capitalized(add.mutation)}Input`,
    addPayload: `${capitalized(add.mutation)}Payload`,
    removeInput: `${capitalized(remove.mutation)}Input`,
    removePayload: `${capitalized(remove.mutation)}Payload`,
  }
}

const capitalized = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`
