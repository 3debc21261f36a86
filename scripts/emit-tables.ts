import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { collectionTable } from '../src/db/collections.ts'
import { deploymentTable } from '../src/db/deployment.ts'
import { strategyTable } from '../src/timeline/strategies/list.ts'
import { mechanismTable } from './mechanisms.ts'

// Writes the tables of documents that derive from code. With --check, it writes nothing and fails
// if a table differs.
type Table = readonly (readonly string[])[]
const tables: readonly (readonly [
  file: string,
  tableOf: (committed: string) => Table | Promise<Table>,
])[] = [
  ['docs/reference/processes.md', deploymentTable],
  ['docs/explanation/architecture.md', collectionTable],
  ['docs/explanation/architecture.md', mechanismTable],
  ['docs/explanation/strategies.md', strategyTable],
]
const formatRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`

for (const [name, tableOf] of tables) {
  const file = join(import.meta.dirname, '..', name)
  const committed = await readFile(file, 'utf8')
  const [head = [], ...body] = await tableOf(committed)
  const pattern = new RegExp(`^\\| ${head[0]} \\|.*\\n(?:\\|.*\\n?)*`, 'm')
  if (!pattern.test(committed)) throw new Error(`${name} has no table of "${head[0]}"`)
  const table = [head, head.map(() => '---'), ...body].map(formatRow).join('')
  const text = committed.replace(pattern, () => table)
  if (!process.argv.includes('--check')) {
    await writeFile(file, text)
  } else if (committed !== text) {
    console.error(`${name} differs from the code: run npm run docs:emit`)
    process.exitCode = 1
  }
}
