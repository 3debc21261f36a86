import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'
import { bundle } from '../../support/compile.ts'
import { root } from '../../support/process.ts'

/** The folder of the command line of the next release, relative to the root. */
export const nextRelease = 'test-dist/next'
/** The collection that the next release renames, and its next name. */
export const [formerName, nextName] = ['restrictions', 'silences']

const replaced = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`no ${from}`)
  return text.replace(from, to)
}

/** What the next release changes in files of its own. */
const changes: Readonly<Record<string, (text: string) => string>> = {
  'src/db/migrations/list.ts': (text) =>
    `${replaced(text, 'export const migrations', 'const own')}
    import { nextVersion } from '../../../tests/integration/migrations/next-version.ts'
    export const migrations = [...own, nextVersion('${formerName}', '${nextName}')]`,
  'src/follows/restrictions.ts': (text) =>
    replaced(text, 'kinds.map((kind) => ({', 'kinds.map((kind) => ({ since: new Date(),'),
}

/** The sources of this release, with the migration, the next name and the field `since`. */
const nextSources: Plugin = {
  name: 'next-sources',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      // Names of files stay.
      const renamed = text.replace(new RegExp(`\\b${formerName}\\b(?!\\.ts)`, 'g'), nextName)
      const change = changes[path.slice(root.length + 1)]
      return { contents: change ? change(renamed) : renamed, loader: 'ts' }
    }),
}

/**
 * Bundles the command line of a made-up next release: that of this one, with one more migration,
 * after which `restrictions` are `silences` with a field more.
 */
export const compileNextRelease = (): Promise<void> =>
  bundle(['main.ts'], nextRelease, [nextSources])
