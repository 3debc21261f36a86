import type { Migration } from './migration.ts'

/** The oldest schema version that a release can migrate. */
export const oldestVersion = 1

/**
 * All migrations, in order. The first one leads from {@link oldestVersion}. A new one is a file,
 * and a line here.
 */
export const migrations: readonly Migration[] = []
