import { basename, resolve } from 'node:path'
import { build } from 'esbuild'

/**
 * Compiles a program of the benchmarks, so that it runs as JavaScript without a loader, as servers
 * of production do. The output of tsx is slower: it adds a call for each nested function, and its
 * loader needs memory.
 * @returns the path of the compiled program.
 */
export async function bundle(file: string): Promise<string> {
  const outfile = resolve('.feedline/bench-programs', basename(file).replace(/\.ts$/, '.mjs'))
  await build({
    ...{ entryPoints: [file], outfile, bundle: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
  })
  return outfile
}
