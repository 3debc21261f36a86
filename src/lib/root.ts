import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

const upToManifest = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : upToManifest(dirname(folder))

/**
 * The folder of this release, which has `package.json` and `schema`. The same from sources, from
 * `dist` and from a bundle.
 */
export const root: string = upToManifest(import.meta.dirname)
