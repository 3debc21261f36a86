import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { BoundedNames, registry } from '../../src/metrics/registry.ts'
import { knowOperations, operationLabelOf } from '../../src/metrics/requests.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'src/metrics')

interface Exported {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labels: readonly string[]
}

/** Every metric that Feedline declares, without those of Node.js. */
let exported: readonly Exported[] = []
beforeAll(async () => {
  await Promise.all(readdirSync(folder).map((file) => import(join(folder, file))))
  const all = registry.getMetricsAsArray().map((metric) => {
    const {
      name,
      help,
      labelNames = [],
    } = metric as unknown as {
      name: string
      help: string
      labelNames?: string[]
    }
    return { name, help, type: metric.constructor.name.toLowerCase(), labels: labelNames }
  })
  exported = all.filter(({ name }) => !/^(nodejs|process)_/.test(name))
})

test('docs/how-to/operations.md documents each metric once, with its type and labels', () => {
  const text = readFileSync(join(root, 'docs/how-to/operations.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `(feedline_\w+)` \| (\w+) \|([^|]*)\|/gm)].map(
    ([, name, type, labels = '']) =>
      `${name} ${type} ${labels.replaceAll(/[`,]/g, '').trim()}`.trim(),
  )
  const declared = exported.map(({ name, type, labels }) => `${name} ${type} ${labels.join(' ')}`)
  expect(rows.sort()).toEqual(declared.map((row) => row.trim()).sort())
})

test('a metric has a name with its unit, and a help text without a full stop', () => {
  expect(exported.length).toBeGreaterThan(20)
  for (const { name, help, type } of exported) {
    expect(name).toMatch(/^feedline_[a-z0-9_]+$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(help).toMatch(/^[A-Z].*[^.]$/)
  }
})

test('names beyond the bounds share a label, and known names keep their own', () => {
  const names = new BoundedNames(2, 5)
  expect(['a', 'longer', 'b', 'c', 'a', 'b'].map((name) => names.labelOf(name))).toEqual([
    'a',
    'other',
    'b',
    'other',
    'a',
    'b',
  ])
})

test('anonymous requests, with any names, take no label of trusted documents and signed-in requests', () => {
  knowOperations(['Trusted'])
  expect(operationLabelOf('n'.repeat(65), true)).toBe('other')
  expect(operationLabelOf(undefined, false)).toBe('anonymous')
  const many = Array.from({ length: 1_000 }, (_, n) => n)
  const anonymous = many.map((n) => operationLabelOf(`Name${n}`, false))
  expect(new Set(anonymous).size).toBe(51)
  expect(operationLabelOf('Trusted', false)).toBe('Trusted')
  expect(operationLabelOf('Timeline', true)).toBe('Timeline')
  expect(operationLabelOf('Timeline', false)).toBe('Timeline')
  expect(operationLabelOf('Name0', true)).toBe('Name0')
  const signedIn = many.map((n) => operationLabelOf(`Own${n}`, true))
  // Beside Trusted and Timeline.
  expect(new Set(signedIn).size).toBe(199)
  const labels = new Set([...anonymous, ...signedIn, 'Trusted', 'Timeline'])
  expect(labels.size).toBeLessThanOrEqual(251)
  expect(operationLabelOf('Own0', false)).toBe('Own0')
})
