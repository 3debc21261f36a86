import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readEarlierSchema, unnamedBreakingChanges } from './schema-changes.ts'

// Compares schema/schema.graphql with its earlier state. Fails if CHANGELOG.md does not name a
// breaking change.
const root = join(import.meta.dirname, '..')
const read = (file: string) => readFile(join(root, file), 'utf8')

const earlier = readEarlierSchema(root)
if (!earlier) {
  console.log('Nothing was compared: this clone has no earlier schema. A full clone has one.')
} else {
  const [current, changelog] = await Promise.all([
    read('schema/schema.graphql'),
    read('CHANGELOG.md'),
  ])
  const unnamed = await unnamedBreakingChanges(earlier.text, current, changelog)
  for (const change of unnamed) console.error(`CHANGELOG.md does not name: ${change}`)
  console.log(`Compared with ${earlier.state}: ${unnamed.length} breaking changes without a line`)
  if (unnamed.length > 0) process.exitCode = 1
}
