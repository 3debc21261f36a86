import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

// Writes the command line of an earlier release as one file, which tests/integration/mixed-releases.all.test.ts runs beside
// this release. It loads its packages from the node_modules of this release, and contains those that are no longer there.
// Usage:
//   git worktree add ../earlier e68b159 && (cd ../earlier && npm ci && npm run build)
//   node --import tsx scripts/bundle-release.ts ../earlier
const checkout = resolve(process.argv[2] ?? '.')
const revision = ['-C', checkout, 'rev-parse', '--short=7', 'HEAD']
const commit = execFileSync('git', revision).toString().trim()
const require = createRequire(join(import.meta.dirname, '../package.json'))

/** Leaves packages of this release where they are. Those that are no longer there become part of the bundle. */
const ownPackages: Plugin = {
  name: 'own-packages',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined
      try {
        require.resolve(path)
        return { path, external: true }
      } catch {
        return undefined
      }
    }),
}
const { outputFiles } = await build({
  entryPoints: [join(checkout, 'dist/main.js')],
  bundle: true,
  write: false,
  minify: true,
  // GraphQL types have the names of their classes.
  keepNames: true,
  platform: 'node',
  target: 'node20.10',
  format: 'esm',
  plugins: [ownPackages],
  banner: {
    js: "import * as moduleForBundle from 'node:module'; globalThis.require = moduleForBundle.createRequire(import.meta.url);",
  },
})
const folder = join(import.meta.dirname, '../tests/fixtures')
await mkdir(folder, { recursive: true })
const [bundle] = outputFiles
await writeFile(join(folder, `${commit}.js.gz`), gzipSync(bundle?.contents ?? '', { level: 9 }))
