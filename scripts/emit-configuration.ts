import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { variableSections } from '../src/environment.ts'
import type { Variable } from '../src/lib/variables.ts'

// Writes the tables of docs/reference/configuration.md from the variables. With --check, it writes
// nothing and fails if they differ. The text before the first heading of a section is written by
// hand.
const file = join(import.meta.dirname, '../docs/reference/configuration.md')
const processes: Readonly<Record<Variable['processes'], string>> = {
  own: 'any',
  database: 'kept',
  equal: 'equal',
}

/** What a schema accepts: the end of the message about a text that it refuses. */
function acceptedBy({ schema }: Variable): string {
  const refused = schema.safeParse('\u0001').error?.issues[0]
  const accepted = refused?.message
    .replace(/^must (be |start with )?/, '')
    .replace(/, and has \d+$/, '')
  const isList = refused ? refused.path.length > 0 : Array.isArray(schema.safeParse('a').data)
  return `${isList ? 'by comma: ' : ''}${accepted ?? (isList ? 'texts' : 'a text')}`
}

function defaultOf({ schema, unset }: Variable): string {
  if (unset !== undefined) return unset
  const value = schema.parse(undefined)
  const text = Array.isArray(value) ? value.map((part) => `\`${part}\``).join(', ') : `\`${value}\``
  return text === '' ? 'none' : text
}

const rowOf = ([name, variable]: [string, Variable]) =>
  `| \`${name}\` | ${acceptedBy(variable)} | ${defaultOf(variable)} | ${variable.reason} | ${processes[variable.processes]} |\n`

const sections = Object.entries(variableSections).map(
  ([title, variables]) =>
    `## ${title}\n\n| variable | accepts | default | what it does, and why | processes |\n| --- | --- | --- | --- | --- |\n${Object.entries(variables).map(rowOf).join('')}`,
)
const committed = await readFile(file, 'utf8')
const [head = ''] = committed.split(/^## /m)
const text = `${head.trimEnd()}\n\n${sections.join('\n')}`

if (!process.argv.includes('--check')) {
  await writeFile(file, text)
} else if (committed !== text) {
  console.error('docs/reference/configuration.md differs from the code: run npm run docs:emit')
  process.exitCode = 1
}
