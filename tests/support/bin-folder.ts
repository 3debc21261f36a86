import { join } from 'node:path'

/** Keeps a fetched mongod between runs of the tests. */
export const binFolder = join(import.meta.dirname, '../../.feedline/bin')
