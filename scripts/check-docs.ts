import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import '../packages/index.ts'
import { buildProgram } from '../src/cli/program.ts'

// Compares the documents with the code: links, paths, npm scripts and commands. Also counts them.
// Prints all differences.
const root = join(import.meta.dirname, '..')
const ignoredFolders = new Set(['node_modules', 'dist', 'coverage', 'test-results'])
const [documentsKBMax, readmeLinesMax] = [200, 110]
const read = (file: string) => readFile(join(root, file), 'utf8')

/** Removes fenced code blocks. They have no links. */
const removeFences = (text: string) => text.replaceAll(/^(```|~~~).*?^\1/gms, '')

async function findDocuments(folder = root): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        return entry.name.startsWith('.') || ignoredFolders.has(entry.name)
          ? []
          : findDocuments(path)
      }
      return entry.name.endsWith('.md') ? [relative(root, path)] : []
    }),
  )
  return found.flat()
}

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

async function findLinkProblem(file: string, link: string): Promise<string | undefined> {
  const [path = '', anchor] = decodeURI(link).split('#')
  const target = path === '' ? file : join(dirname(file), path)
  if (target.startsWith(`..${sep}`)) return `${file}: ${link} is outside the repository`
  if (!existsSync(join(root, target))) return `${file}: ${link} does not exist`
  if (anchor === undefined || !target.endsWith('.md')) return undefined
  const headings = removeFences(await read(target)).matchAll(/^#{1,6} (.*)$/gm)
  const anchors = Array.from(headings, ([, heading = '']) => anchorOf(heading))
  return anchors.includes(anchor) ? undefined : `${file}: ${link} has no such heading`
}

async function findLinkProblems(file: string, text: string): Promise<string[]> {
  const inline = /\]\(\s*<?([^)\s>]+)/g
  const byReference = /^\[[^\]]+\]:\s*(\S+)/gm
  const prose = removeFences(text)
  const links = [...prose.matchAll(inline), ...prose.matchAll(byReference)].map(
    ([, target = '']) => target,
  )
  const relativeLinks = links.filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
  const problems = await Promise.all(relativeLinks.map((link) => findLinkProblem(file, link)))
  return problems.filter((problem) => problem !== undefined)
}

/**
 * Checks paths in backticks, also within commands. A path that begins with a folder of the
 * repository must exist.
 */
function findPathProblems(file: string, text: string): string[] {
  const spans = Array.from(removeFences(text).matchAll(/`([^`]+)`/g), ([, code = '']) => code)
  const repositoryPath =
    /(?<![\w./-])(?:\.ci|deploy|docs|examples|packages|schema|scripts|src|tests)\/[\w./-]*\w/g
  const named = new Set(spans.flatMap((code) => code.match(repositoryPath) ?? []))
  const missing = [...named].filter((path) => !existsSync(join(root, path)))
  return missing.map((path) => `${file}: ${path} does not exist`)
}

/** Checks `npm run SCRIPT`, also with `-w FOLDER`. */
async function findScriptProblems(file: string, text: string): Promise<string[]> {
  const named = [
    ...text.matchAll(/\bnpm run ([\w:-]+)(?: -w ([\w/-]+))?/g),
    ...text.matchAll(/\bnpm (test|start)\b/g),
  ]
  const problems = await Promise.all(
    named.map(async ([, name = '', folder = '']) => {
      const manifest = join(folder, 'package.json')
      const { scripts } = JSON.parse(await read(manifest)) as { scripts: Record<string, string> }
      return name in scripts ? [] : [`${file}: ${manifest} has no script ${name}`]
    }),
  )
  return [...new Set(problems.flat())]
}

/** Compares the commands of the CLI with the first column of docs/reference/commands.md. */
async function findCommandProblems(): Promise<string[]> {
  const cells = (await read('docs/reference/commands.md')).match(/^\| `[^|]*/gm) ?? []
  return buildProgram()
    .commands.map((command) => command.name())
    .filter((name) => !cells.some((cell) => cell.includes(`\`${name}`)))
    .map((name) => `docs/reference/commands.md: the table lacks ${name}`)
}

/**
 * Counts the bytes of README and docs, without the decisions, which no reader needs to use
 * Feedline.
 */
async function findSizeProblems(files: readonly string[]): Promise<string[]> {
  const isDecision = (file: string) => file.startsWith('docs/adr/')
  const sizes = await Promise.all(
    files
      .filter((file) => file === 'README.md' || file.startsWith('docs/'))
      .map(async (file) => [isDecision(file), Buffer.byteLength(await read(file))] as const),
  )
  const kB = (decisions: boolean) =>
    sizes.reduce((sum, [is, bytes]) => sum + (is === decisions ? bytes : 0), 0) / 1_000
  console.log(`README and docs: ${kB(false)} kB, decisions: ${kB(true)} kB`)
  const lines = (await read('README.md')).trimEnd().split('\n').length
  return [
    kB(false) > documentsKBMax ? [`README and docs have more than ${documentsKBMax} kB`] : [],
    lines > readmeLinesMax ? [`README.md has more than ${readmeLinesMax} lines`] : [],
  ].flat()
}

const files = await findDocuments()
const problems = [...(await findCommandProblems()), ...(await findSizeProblems(files))]
for (const file of files) {
  const text = await read(file)
  problems.push(
    ...(await findLinkProblems(file, text)),
    ...findPathProblems(file, text),
    ...(await findScriptProblems(file, text)),
  )
}
for (const problem of problems) console.error(problem)
console.log(`${files.length} documents, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
