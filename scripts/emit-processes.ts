import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deploymentTable } from '../src/db/deployment.ts'

// Writes the table of docs/reference/processes.md from the code. With --check, it writes nothing and fails if the table differs.
const file = join(import.meta.dirname, '../docs/reference/processes.md')
const formatRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
const [head = [], ...body] = deploymentTable()
const table = [head, head.map(() => '---'), ...body].map(formatRow).join('')

const committed = await readFile(file, 'utf8')
const tablePattern = /^\| mechanism .*\n(?:\|.*\n?)*/m
if (!tablePattern.test(committed))
  throw new Error('docs/reference/processes.md has no table of mechanisms')
const text = committed.replace(tablePattern, () => table)

if (!process.argv.includes('--check')) {
  await writeFile(file, text)
} else if (committed !== text) {
  console.error('docs/reference/processes.md differs from the code: run npm run docs:emit')
  process.exitCode = 1
}
