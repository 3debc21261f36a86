import { versions } from './3-versions.ts'
import { floors } from './4-floors.ts'
import { accounts } from './5-accounts.ts'
import type { Migration } from './migration.ts'

/** The oldest schema version that a release can migrate. Databases of builds before it were never published. */
export const oldestVersion = 2

/** All migrations, in order. The first one leads from {@link oldestVersion}. A new one is a file, and a line here. */
export const migrations: readonly Migration[] = [versions, floors, accounts]
