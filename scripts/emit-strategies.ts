import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strategies } from '../src/feed/strategies/list.ts'

// Writes the table of docs/explanation/strategies.md from the code. With --check, it writes nothing and fails if the table differs.
const file = join(import.meta.dirname, '../docs/explanation/strategies.md')
const rows = [
  ['strategy', 'a post is', 'a page is', 'stored'],
  ...strategies.map(({ name, table }) => [`\`${name}\``, table.post, table.page, table.stored]),
]
const formatRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
const [head = '', ...body] = rows.map(formatRow)
const table = [head, formatRow(['---', '---', '---', '---']), ...body].join('')

const committed = await readFile(file, 'utf8')
const tablePattern = /^\| strategy .*\n(?:\|.*\n)*/m
if (!tablePattern.test(committed))
  throw new Error('docs/explanation/strategies.md has no table of strategies')
const text = committed.replace(tablePattern, () => table)

if (!process.argv.includes('--check')) {
  await writeFile(file, text)
} else if (committed !== text) {
  console.error('docs/explanation/strategies.md differs from the code: run npm run docs:emit')
  process.exitCode = 1
}
