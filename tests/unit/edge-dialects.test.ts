import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EdgeList } from '../../packages/import/edge-list.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-dialects-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Names that no heading has: each is a number or has a digit after five letters or more. */
const name = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map(String),
  fc
    .tuple(fc.constantFrom('annie', 'bobby', 'cembalo'), fc.integer({ min: 0, max: 20 }))
    .map(([text, number]) => `${text}.${number}`),
)
const edge = fc.tuple(name, name).filter(([from, to]) => from !== to)

const dialect = fc.record({
  separator: fc.constantFrom('\t', ' ', ',', ';', '|'),
  isQuoted: fc.boolean(),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  encoding: fc.constantFrom('utf8', 'utf16le'),
  hasMark: fc.boolean(),
  isZipped: fc.boolean(),
  namesSeparator: fc.boolean(),
  heading: fc.constantFrom(
    undefined,
    ['from', 'to', 'weight'],
    ['Source', 'Target', 'Weight'],
    ['user1', 'user2', 'w'],
    ['follower_id', 'followee_id', 'created_at'],
  ),
  third: fc.constantFrom(undefined, '0.5', '-3', '1082040961', '2024-01-02', 'friends', '{}'),
  between: fc.constantFrom('', '# comment', '   ', '// comment'),
})

type Dialect = typeof dialect extends fc.Arbitrary<infer Value> ? Value : never

function written(edges: readonly (readonly [string, string])[], how: Dialect): Buffer {
  const quoted = (field: string) => (how.isQuoted ? `"${field}"` : field)
  const lineOf = (fields: readonly string[]) => {
    const [from = '', to = '', third] = fields
    const shown = [quoted(from), quoted(to)]
    if (third !== undefined) shown.push(third === '{}' ? third : quoted(third))
    return shown.join(how.separator)
  }
  const count = how.third === undefined ? 2 : 3
  const lines = [
    ...(how.namesSeparator ? [`sep=${how.separator}`] : []),
    ...(how.heading ? [lineOf(how.heading.slice(0, count))] : []),
    ...edges.flatMap(([from, to]) => [
      lineOf([from, to, ...(how.third === undefined ? [] : [how.third])]),
      ...(how.between === '' ? [] : [how.between]),
    ]),
  ]
  const mark = how.hasMark ? '\uFEFF' : ''
  const bytes = Buffer.from(mark + lines.join(how.end), how.encoding as BufferEncoding)
  return how.isZipped ? gzipSync(bytes) : bytes
}

test('each edge of an edge list is read, in every dialect; without a heading, a file may be refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(edge, { minLength: 1, maxLength: 12 }),
      dialect,
      async (edges, how) => {
        const path = join(folder, 'edges')
        await writeFile(path, written(edges, how))
        const list = await EdgeList.open(path).catch((error: Error) => error)
        if (list instanceof Error) {
          expect(how.heading).toBeUndefined()
          expect(list.message).toContain('may be a heading or an edge')
          return
        }
        const read: string[] = []
        for await (const { from, to } of list.rows()) read.push(`${from}>${to}`)
        expect(read).toEqual(edges.map(([from, to]) => `${from}>${to}`))
        expect(list.findings.bad.count).toBe(0)
        const { read: all, ...held } = list.findings.lines
        expect(Object.values(held).reduce((sum, count) => sum + count, 0)).toBe(all)
      },
    ),
  )
})
