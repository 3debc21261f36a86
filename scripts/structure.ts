import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** A file with its path below the folder that was read, and the files that it imports. */
export interface SourceFile {
  readonly path: string
  readonly lines: number
  readonly imports: readonly string[]
}

/** What a file imports: values, types, modules for their effect, dynamically, and by their path. */
export const importsOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:from|import|require\.resolve)\s*\(?\s*'([^']+)'/g)].map(
    ([, to]) => to as string,
  )

/**
 * Reads all TypeScript files below a folder. Imports of packages and of other folders are left out.
 */
export function readStructure(folder: string): SourceFile[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const all = new Set(paths)
  return paths.map((path) => {
    const text = readFileSync(join(folder, path), 'utf8')
    const targets = importsOf(text)
      .filter((target) => target.startsWith('.'))
      .map((target) => posix.join(posix.dirname(path), target))
    const imports = [...new Set(targets)].filter((target) => all.has(target))
    return { path, lines: text.split('\n').length - 1, imports }
  })
}

/**
 * The groups of files that import each other in a circle, imports of types included (Tarjan's
 * strongly connected components).
 */
export function circlesOf(files: readonly SourceFile[]): string[][] {
  const importsBy = new Map(files.map(({ path, imports }) => [path, imports]))
  const [index, low] = [new Map<string, number>(), new Map<string, number>()]
  const open: string[] = []
  const circles: string[][] = []
  const lowOf = (path: string) => low.get(path) ?? Number.POSITIVE_INFINITY
  const visit = (path: string): void => {
    index.set(path, index.size)
    low.set(path, index.size - 1)
    open.push(path)
    for (const target of importsBy.get(path) ?? []) {
      if (!index.has(target)) visit(target)
      if (open.includes(target)) low.set(path, Math.min(lowOf(path), lowOf(target)))
    }
    if (lowOf(path) !== index.get(path)) return
    const circle = open.splice(open.indexOf(path))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const { path } of files) if (!index.has(path)) visit(path)
  return circles
}

/** The files that exactly one other file imports, with it. */
export function filesWithOneImporter(
  files: readonly SourceFile[],
): [file: SourceFile, by: string][] {
  return files.flatMap((file): [SourceFile, string][] => {
    const importers = files.filter(({ imports }) => imports.includes(file.path))
    const [only] = importers
    return only && importers.length === 1 ? [[file, only.path]] : []
  })
}
