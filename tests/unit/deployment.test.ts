import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { deploymentLines, differences, isOn, type Mechanism } from '../../src/db/deployment.ts'
import { logMark, marks } from '../../src/db/marks.ts'

const replicaSet = { isSharded: false, missing: [], isEmbedded: false } as const
const sharded = { ...replicaSet, isSharded: true }
const upgraded = { ...replicaSet, missing: marks } as const
const mechanisms: readonly Mechanism[] = ['memory', 'postsWithoutJobs', 'retention']

describe('a deployment', () => {
  test('a replica set has every mechanism, and its line names no difference', () => {
    expect(mechanisms.map((name) => isOn(name, replicaSet))).toEqual(mechanisms.map(() => true))
    expect(deploymentLines(replicaSet)).toEqual(['deployment: replica set'])
  })

  test.each<[string, Parameters<typeof deploymentLines>[0], readonly Mechanism[]]>([
    ['sharded cluster', sharded, ['retention']],
    ['upgraded database', upgraded, []],
    ['upgraded database', { ...upgraded, missing: [logMark] }, ['postsWithoutJobs', 'retention']],
  ])('each mechanism that a %s leaves out is in its line', (name, deployment, on) => {
    expect(mechanisms.filter((mechanism) => isOn(mechanism, deployment))).toEqual(on)
    const line = deploymentLines(deployment).find((text) => text.includes(name)) ?? ''
    for (const mechanism of mechanisms) {
      const text = differences[mechanism].mechanism.replace(/[`[\]]|\([^)]*\)/g, '')
      expect(line.includes(text), text).toBe(!on.includes(mechanism))
    }
  })

  test('the lines name every difference of a deployment, without marks of Markdown', () => {
    const lines = deploymentLines({ ...upgraded, isSharded: true })
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^deployment: sharded cluster\. .*reads of a job: wait until their/)
    expect(lines[1]).toContain('retention: everything is kept')
    const embedded = deploymentLines({ ...replicaSet, isEmbedded: true })
    expect(embedded).toEqual([expect.stringMatching(/^deployment: embedded MongoDB\. .*migrated/)])
    for (const line of [...lines, ...embedded]) expect(line).not.toMatch(/[`[\]]|\.md|undefined/)
  })

  test('no other code asks which deployment it has', () => {
    const root = join(import.meta.dirname, '../../src')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    const asking = files.filter(
      (file) =>
        file.endsWith('.ts') &&
        /isdbgrid|loadMissingMarks/.test(readFileSync(join(root, file), 'utf8')),
    )
    // The marks, the check that there is a replica set, and the command that sets the marks.
    expect(asking.sort()).toEqual([
      'cli/migrate.ts',
      'db/deployment.ts',
      'db/marks.ts',
      'db/unreachable.ts',
    ])
  })
})
