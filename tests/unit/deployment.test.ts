import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { deploymentLine } from '../../src/db/deployment.ts'

const replicaSet = { isSharded: false, isEmbedded: false }

describe('a deployment', () => {
  test('the line of a replica set names no difference', () => {
    expect(deploymentLine(replicaSet)).toBe('deployment: replica set')
  })

  test('the line of another deployment names every difference, without marks of Markdown', () => {
    const sharded = deploymentLine({ ...replicaSet, isSharded: true })
    expect(sharded).toMatch(/^deployment: sharded cluster\. .*reads of a job: wait until their/)
    // What the code leaves out there.
    expect(sharded).toContain('posts, accounts and relations in memory, PAGE_CACHE_MB: none')
    expect(sharded).toContain('while no strategy stores timelines: one, which delivers nothing')
    const embedded = deploymentLine({ ...replicaSet, isEmbedded: true })
    expect(embedded).toMatch(/^deployment: embedded MongoDB\. .*migrated/)
    for (const line of [sharded, embedded]) expect(line).not.toMatch(/[`[\]]|\.md|undefined/)
  })

  test('no other code asks which deployment it has', () => {
    const root = join(import.meta.dirname, '../../src')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    const asking = files.filter(
      (file) =>
        file.endsWith('.ts') && /isdbgrid|isSharded/.test(readFileSync(join(root, file), 'utf8')),
    )
    // The start of memory, the rows, the start of a process, and the check of a replica set.
    expect(asking.sort()).toEqual([
      'app.ts',
      'db/deployment.ts',
      'db/unreachable.ts',
      'open-process.ts',
    ])
  })
})
