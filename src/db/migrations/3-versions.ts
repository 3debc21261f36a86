import type { Migration } from './migration.ts'

/**
 * Writes get versions. The collection is created with the indexes. Nothing is kept under versions until an operator says
 * that no process of the previous release runs, see `setMarks`.
 */
export const versions: Migration = { name: 'writes raise versions', steps: [] }
