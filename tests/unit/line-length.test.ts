import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const folders = ['src', 'packages', 'tests', 'bench', 'scripts', 'faults', 'soak']
/** The columns of Biome, which leaves comments as they are. */
const columns = 100

const isComment = (line: string) => /^\s*(\/\/|\/\*|\*)/.test(line)
/** The numbers of the lines of a text with comments that are too long. */
const longComments = (text: string): number[] =>
  text.split('\n').flatMap((line, at) => (isComment(line) && line.length > columns ? [at + 1] : []))

test('no line of a comment is longer than a line of code', () => {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .map((path) => `${folder}/${path}`),
  )
  expect(files.length).toBeGreaterThan(500)
  const long = files.flatMap((file) =>
    longComments(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`),
  )
  expect(long).toEqual([])
})

test.each(['//', ' *', '/**'])('a long comment is found that begins with "%s"', (begin) => {
  expect(longComments(`\n${begin.padEnd(columns + 1, 'x')}\n`)).toEqual([2])
})
