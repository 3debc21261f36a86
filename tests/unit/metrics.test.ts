import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { BoundedNames, registry } from '../../src/metrics/registry.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'src/metrics')

interface Exported {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labels: readonly string[]
}

/** Every metric that a process of Feedline declares. */
let exported: readonly Exported[] = []
beforeAll(async () => {
  await Promise.all(readdirSync(folder).map((file) => import(join(folder, file))))
  exported = registry.getMetricsAsArray().map((metric) => {
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
})

test('docs/operations.md documents each metric once, with its type and labels', () => {
  const text = readFileSync(join(root, 'docs/operations.md'), 'utf8')
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
