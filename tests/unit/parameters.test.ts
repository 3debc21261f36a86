import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const parametersMax = 4
const root = join(import.meta.dirname, '../..')
const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' }
const commentOrText =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

/** Code of the same length, without comments, texts and trailing commas. */
const bare = (code: string): string =>
  code.replace(commentOrText, (text) => text.replace(/./g, ' ')).replace(/,(?=\s*\))/g, ' ')

/**
 * Whether a list of too many parameters begins at `open`: a type, an arrow or a body follows such a
 * list.
 */
function beginsLongList(code: string, open: number): boolean {
  const expected: string[] = []
  let [at, commas] = [open, 0]
  do {
    const [before, char] = [code[at - 1] ?? '', code[at] as string]
    const closer = char === '<' && !/\w/.test(before) ? undefined : closers[char]
    if (closer) expected.push(closer)
    else if (char === expected.at(-1) && before + char !== '=>') expected.pop()
    else if (char === ',' && expected.length === 1) commas++
    at++
  } while (expected.length > 0 && at < code.length)
  return commas >= parametersMax && /^(:| =>| \{)/.test(code.slice(at, at + 3))
}

const longLists = (name: string, code: string): string[] =>
  [...bare(code).matchAll(/\(/g)]
    .filter(({ index, input }) => beginsLongList(input, index))
    .map(({ index }) => `${name}:${code.slice(0, index).split('\n').length}`)

test('no function, method or constructor of the product takes more than four positional parameters', () => {
  const files = ['src', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  )
  const code = files.filter((file) => file.endsWith('.ts'))
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  expect(code.flatMap((file) => longLists(file, read(file)))).toEqual([])
})

test.each([
  ['\nconstructor(\n  private a: Map<A, B>,\n  b: B, // b, c\n  c,\n  d,\n  e,\n) {}', ['a.ts:2']],
  ["async f<T>(a: T, { b, c }, d = g(1, 2), e = ',', ...h: (i: I) => J): K {}", ['a.ts:1']],
  ['method(a: Map<A, B>, { b, c }: B, /* d, e */ f, g,\n) { h(a, b, c, f, g) }', []],
])(
  'the parameter check finds five parameters, and ignores four parameters and calls: %s',
  (code, found) => {
    expect(longLists('a.ts', code)).toEqual(found)
  },
)
