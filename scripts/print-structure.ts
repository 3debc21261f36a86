import { join } from 'node:path'

import { alignColumns } from '../src/cli/table.ts'
import { circlesOf, filesWithOneImporter, readStructure } from './structure.ts'

// Prints what a reader of src has to carry: lines and files by folder, small files with one
// importer, circles of imports.
/**
 * A smaller file with one importer belongs into it, unless it is a table or has a test of its own.
 */
const smallLines = 60

const files = readStructure(join(import.meta.dirname, '../src'))
const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '.')
const folders = [...new Set(files.map(({ path }) => folderOf(path)))].sort()
const linesOf = (some: typeof files) => some.reduce((sum, { lines }) => sum + lines, 0)
const rows = [['folder', 'files', 'lines']]
for (const folder of folders) {
  const own = files.filter(({ path }) => folderOf(path) === folder)
  rows.push([folder, `${own.length}`, `${linesOf(own)}`])
}
rows.push(['src', `${files.length}`, `${linesOf(files)}`])
console.log(alignColumns(rows).join('\n'))

const withOne = filesWithOneImporter(files)
const small = withOne.filter(([{ lines }]) => lines < smallLines)
console.log(`\n${withOne.length} files have one importer. Below ${smallLines} lines:`)
for (const [{ path, lines }, by] of small) console.log(`  ${path} (${lines}) <- ${by}`)

const circles = circlesOf(files)
console.log(`\n${circles.length} circles of imports`)
for (const circle of circles) console.log(`  ${circle.join(', ')}`)
