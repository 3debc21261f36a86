import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../support/command-line.ts'
import { contradictions, csv, mixed, passedOver, written } from '../support/relations.ts'
import { useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

describe('feedline import-relations', () => {
  const harness = useServices('collection', undefined, { maintained: ['INBOX'] })
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-relations-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function command(...args: readonly string[]) {
    const { uri, name } = harness.database
    const env = { MONGODB_URI: uri, MONGODB_DATABASE: name }
    const { code, stdout, stderr } = await runCommand(['import-relations', ...args], env)
    return { code, out: stdout, err: stderr }
  }
  const lastObject = (out: string) => JSON.parse(out.trim().split('\n').at(-1) ?? '')

  test('import-relations reports a dry run, writes the same, and keeps timelines in service', async () => {
    const { registry, collections } = harness.services
    const file = join(folder, 'relations.csv')
    await writeFile(file, `${csv(mixed)}\neve,eve,,,,,\n`)
    await harness.rest()
    const dry = await command(file, '--dry-run', '--json')
    expect(dry.code).toBe(0)
    expect(dry.out).toMatch(
      /^Nothing was written\. An import would write 4 users, 5 edges and 11 events/,
    )
    expect(dry.err).toMatch(/^Skipped invalid lines: 1\n {2}line 12: "eve" would follow itself\n/)
    expect(dry.err).toMatch(/\nSkipped, known:\n {2}line \d+: \w+ follows \w+\n/)
    expect(await collections.users.countDocuments()).toBe(0)
    expect((await registry.read()).get('INBOX')?.complete).toBe(true)
    const wet = await command(file, '--json')
    expect(wet.code).toBe(0)
    const lines = { read: 12, rows: 10, headings: 1, empty: 0, invalid: 1 }
    const report = { ...written, passedOver, rows: 10, contradictions, lines, badLines: 1 }
    const total = { ...written, passedOver }
    const seconds = expect.any(Number)
    expect(lastObject(dry.out)).toEqual({ dryRun: true, ...report, seconds, total })
    expect(lastObject(wet.out)).toEqual({ dryRun: false, ...report, seconds, total })
    expect((await registry.read()).get('INBOX')?.complete).toBe(true)
    await harness.rest()
    expect((await registry.read()).get('INBOX')?.complete).toBe(true)
    expect((await verified(harness.services)).differences).toEqual([])
  })

  test('import-relations refuses a file with another header, and leaves timelines unchanged', async () => {
    const file = join(folder, 'other.csv')
    await writeFile(file, 'follower,followee\na,b\n')
    const { code, err } = await command(file)
    expect({ code, err }).toEqual({
      code: 1,
      err: `feedline: ${file}: line 1 is not a header: the column user_id is missing\n`,
    })
    expect((await harness.services.registry.read()).get('INBOX')?.complete).toBe(true)
  })
})
