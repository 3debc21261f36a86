import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { variableNames } from '../src/environment.ts'

// Says where the documents and the code differ: links, paths, npm scripts, environment variables.
const root = join(import.meta.dirname, '..')
const notOurs = new Set(['node_modules', 'dist', 'coverage', 'test-results'])
const read = (file: string) => readFile(join(root, file), 'utf8')

/** The fenced parts show commands and code, no links. */
const withoutFences = (text: string) => text.replaceAll(/^(```|~~~).*?^\1/gms, '')

async function documents(folder = root): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        return entry.name.startsWith('.') || notOurs.has(entry.name) ? [] : documents(path)
      }
      return entry.name.endsWith('.md') ? [relative(root, path)] : []
    }),
  )
  return found.flat()
}

/** What GitHub makes of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

async function linkProblem(file: string, link: string): Promise<string | undefined> {
  const [path = '', anchor] = decodeURI(link).split('#')
  const target = path === '' ? file : join(dirname(file), path)
  if (target.startsWith(`..${sep}`)) return `${file}: ${link} leads out of the repository`
  if (!existsSync(join(root, target))) return `${file}: ${link} leads nowhere`
  if (anchor === undefined || !target.endsWith('.md')) return undefined
  const headings = withoutFences(await read(target)).matchAll(/^#{1,6} (.*)$/gm)
  const anchors = Array.from(headings, ([, heading = '']) => anchorOf(heading))
  return anchors.includes(anchor) ? undefined : `${file}: ${link} names no heading`
}

async function linkProblems(file: string, text: string): Promise<string[]> {
  const inline = /\]\(\s*<?([^)\s>]+)/g
  const byReference = /^\[[^\]]+\]:\s*(\S+)/gm
  const prose = withoutFences(text)
  const links = [...prose.matchAll(inline), ...prose.matchAll(byReference)].map(([, to = '']) => to)
  const ours = links.filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
  const problems = await Promise.all(ours.map((link) => linkProblem(file, link)))
  return problems.filter((problem) => problem !== undefined)
}

/** A path in backticks, alone or within a command, must exist when it begins with one of our folders. */
function pathProblems(file: string, text: string): string[] {
  const spans = Array.from(withoutFences(text).matchAll(/`([^`]+)`/g), ([, code = '']) => code)
  const ours = /(?<![\w./-])(?:\.ci|docs|schema|scripts|src|tests)\/[\w./-]*\w/g
  const named = new Set(spans.flatMap((code) => code.match(ours) ?? []))
  const missing = [...named].filter((path) => !existsSync(join(root, path)))
  return missing.map((path) => `${file}: there is no ${path}`)
}

function scriptProblems(file: string, text: string, scripts: ReadonlySet<string>): string[] {
  const named = [
    ...text.matchAll(/\bnpm run ([\w:-]+)/g),
    ...text.matchAll(/\bnpm (test|start)\b/g),
  ]
  const unknown = new Set(named.map(([, name = '']) => name).filter((name) => !scripts.has(name)))
  return [...unknown].map((name) => `${file}: package.json has no script ${name}`)
}

/** The names in the first column of the tables under README's heading "Configuration". */
function documentedVariables(readme: string): ReadonlySet<string> {
  const [, section = ''] = /^## Configuration\n(.*?)(?=^## |(?![\s\S]))/ms.exec(readme) ?? []
  const cells = Array.from(section.matchAll(/^\|([^|]*)\|/gm), ([, cell = '']) => cell)
  return new Set(
    cells.flatMap((cell) =>
      Array.from(cell.matchAll(/`([A-Z][A-Z0-9_]*)`/g), ([, name = '']) => name),
    ),
  )
}

function variableProblems(readme: string): string[] {
  const documented = documentedVariables(readme)
  return [
    ...variableNames
      .filter((name) => !documented.has(name))
      .map((name) => `README.md: the configuration table lacks ${name}`),
    ...[...documented]
      .filter((name) => !variableNames.includes(name))
      .map((name) => `README.md: src/environment.ts does not read ${name}`),
  ]
}

const files = await documents()
const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
const names = new Set(Object.keys(scripts))
const problems = variableProblems(await read('README.md'))
for (const file of files) {
  const text = await read(file)
  problems.push(
    ...(await linkProblems(file, text)),
    ...pathProblems(file, text),
    ...scriptProblems(file, text, names),
  )
}
for (const problem of problems) console.error(problem)
console.log(`${files.length} documents, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
