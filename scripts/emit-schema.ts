import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { schemaText } from '../src/graphql/schema.ts'

// Writes schema/schema.graphql from the code. With --check, it writes nothing and fails if the file
// differs.
const file = join(import.meta.dirname, '../schema/schema.graphql')
const text = schemaText()

if (process.argv.includes('--check')) {
  const committed = await readFile(file, 'utf8').catch(() => '')
  if (committed !== text) {
    console.error('schema/schema.graphql differs from the code: run npm run schema:emit')
    process.exitCode = 1
  }
} else {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
