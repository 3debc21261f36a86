import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'

const vague = new Set(['one', 'found', 'some', 'given', 'known', 'there'])
/** The most lines of a variable with a vague name. */
const linesMax = 3
const scopes = /Function|^(BlockStatement|StaticBlock|Program|For\w*Statement)$/

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>

const childrenOf = (node: Node): Node[] =>
  (Object.values(node).flat() as (Node | null)[]).filter((value) => value?.type) as Node[]
const within = (node: Node): Node[] => [node, ...childrenOf(node).flatMap(within)]

/** Whether a name is a variable, a parameter, or a part of a pattern, by the nodes around it. */
const isDeclared = (node: Node, parent?: Node, outer?: Node): boolean =>
  /ArrayPattern|RestElement/.test(`${parent?.type}`) ||
  [parent?.params].flat().includes(node) ||
  (parent?.type === 'VariableDeclarator' && parent.id === node) ||
  (parent?.type === 'AssignmentPattern' && parent.left === node) ||
  (outer?.type === 'ObjectPattern' && parent?.value === node)

/** The vague names that live too long, each with its line. */
function vagueIn(text: string): string[] {
  const lineOf = ({ start }: Node) => text.slice(0, start).split('\n').length
  const visit = (node: Node, parents: readonly Node[]): string[] => {
    const inner = childrenOf(node).flatMap((child) => visit(child, [...parents, node]))
    const isVague = vague.has(`${node.name}`) && isDeclared(node, parents.at(-1), parents.at(-2))
    if (!isVague) return inner
    const scope = parents.findLast(({ type }) => scopes.test(type)) as Node
    const last = within(scope).findLast(({ name }) => name === node.name) as Node
    return lineOf(last) - lineOf(node) < linesMax
      ? inner
      : [`${lineOf(node)} ${node.name}`, ...inner]
  }
  return visit(parseAst(text, { lang: 'ts' }) as unknown as Node, [])
}

test('no variable that lives longer than three lines has a vague name', () => {
  const files = ['src', 'packages'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((path) => `${folder}/${path}`),
  )
  const left = files
    .filter((file) => /^(?!.*node_modules).*\.ts$/.test(file))
    .flatMap((file) => vagueIn(readFileSync(file, 'utf8')).map((name) => `${file}:${name}`))
  expect(left).toEqual([])
})

test.each([
  'const some = 1',
  'const [some] = a',
  'f = (\n{ a: some },\n) => {',
  'for (const some of a) {',
])('the check finds the name in %s', (text) =>
  expect(vagueIn(`${text}\n\n\nsome${text.endsWith('{') ? '}' : ''}`)).toHaveLength(1),
)
