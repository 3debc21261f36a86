import { glossaryNames } from './2-glossary-names.ts'
import { versions } from './3-versions.ts'
import type { Migration } from './migration.ts'

/** All migrations, in order. The first one leads to schema version 2. A new one is a file, and a line here. */
export const migrations: readonly Migration[] = [glossaryNames, versions]
