import { type EngagementKind, kinds } from '../kinds.ts'

/** The names in the schema that derive from the row of a kind. */
export function schemaNames(kind: EngagementKind) {
  const { type } = kinds[kind].node
  const entry = `${type.charAt(0).toLowerCase()}${type.slice(1)}`
  return {
    /** The field with the new entry, such as `comment`. */
    entry,
    /** The field with the edge of the new entry, such as `commentEdge`. */
    edge: `${entry}Edge`,
    /** The input field with the global id of an entry, such as `commentId`. */
    entryId: `${entry}Id`,
    /** The field with the global id of a deleted entry, such as `deletedCommentId`. */
    deletedId: `deleted${type}Id`,
  }
}
