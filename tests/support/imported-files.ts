import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readAccountNames } from './account-names.ts'
import { runCommand } from './command-line.ts'
import type { EdgeFile } from './edge-files.ts'
import { useDatabase } from './mongo.ts'

/**
 * Imports each file by the real command into a database, and compares what the command says with
 * what is stored.
 */
export function describeImports(files: readonly EdgeFile[]): void {
  const database = useDatabase()
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-imported-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  beforeEach(async () => {
    for (const collection of Object.values(database.collections)) await collection.deleteMany({})
  })

  const write = (name: string, content: string | Buffer) => writeFile(join(folder, name), content)

  /** Runs `feedline load` on a file of this name. */
  async function load(name: string, args: readonly string[]) {
    const env = { MONGODB_URI: database.uri, MONGODB_DATABASE: database.name }
    const signIn = { AUTH_JWT_SECRET: 'a secret of at least 32 characters' }
    const command = ['load', join(folder, name), '--json', ...args]
    const { stdout, ...rest } = await runCommand(command, { ...env, ...signIn })
    const last = stdout.trim().split('\n').at(-1) ?? ''
    return { ...rest, report: last.startsWith('{') ? JSON.parse(last) : undefined }
  }

  /** The stored edges as `from>to`, and how many accounts and imports there are. */
  async function stored() {
    const { followers, users, imports } = database.collections
    const { handleOf } = await readAccountNames(database.collections)
    const edges = await followers.find().toArray()
    return {
      edges: edges.map((edge) => `${handleOf(edge.follower)}>${handleOf(edge.user)}`).sort(),
      users: await users.countDocuments(),
      imports: await imports.countDocuments(),
    }
  }

  describe.each(files)('$name', ({ content, issuer, edges, lines, refused }) => {
    const args = issuer === undefined ? [] : ['--issuer', issuer]

    const refusal = async () => {
      await write('edges', content)
      const { code, stderr, report } = await load('edges', args)
      expect({ code, report }).toEqual({ code: 1, report: undefined })
      expect(stderr).toContain(refused)
      expect(await stored()).toEqual({ edges: [], users: 0, imports: 0 })
    }

    const handles = async () => {
      const distinct = [...new Set(edges)].sort()
      const isMutual = distinct.every((one) => !distinct.includes(reversed(one)))
      const both = isMutual ? [...distinct, ...distinct.map(reversed)].sort() : distinct
      const options = isMutual ? ['--mutual'] : []
      await write('edges', content)
      await write('copy', content)
      const first = await load('edges', options)
      expect(first.code).toBe(0)
      const { report } = first
      const now = await stored()
      expect(now.edges).toEqual(both)
      expect(report).toMatchObject({ edges: both.length, users: now.users })
      const pairs = (edges?.length ?? 0) * (isMutual ? 2 : 1)
      expect(report.known).toBe(pairs - both.length)
      expect(report.lines).toMatchObject({ edges: edges?.length, read: lineCount(content) })
      const { read, ...held } = report.lines
      expect(Object.values<number>(held).reduce((sum, count) => sum + count, 0)).toBe(read)
      expect(held).toMatchObject(lines ?? {})
      for (const name of ['edges', 'copy']) {
        const again = await load(name, options)
        expect(again.code).toBe(0)
        const known = name === 'copy' ? pairs : 0
        expect(again.report).toMatchObject({ edges: 0, users: 0, known })
        expect((await stored()).edges).toEqual(both)
      }
    }

    const subjects = async () => {
      await write('edges', content)
      const { code, stderr, report } = await load('edges', args)
      expect({ code, ...report }).toMatchObject({ code: 1, edges: 0, unknown: edges?.length })
      expect(stderr).toMatch(/Skipped, unknown:\n {2}line \d+: .+ follows /)
      expect(stderr).toContain('Nothing was imported')
      expect(await stored()).toMatchObject({ edges: [], users: 0 })
    }

    if (refused !== undefined) test('a refused edge list changes nothing', refusal)
    else if (issuer === undefined)
      test(
        'the summary of an import says what is stored, each line counts once, and a repeat succeeds',
        handles,
      )
    else test('an import of unknown subjects counts each edge, stores none, and fails', subjects)
  })
}

const reversed = (edge: string) => edge.split('>').reverse().join('>')

/** The lines of a file, counted another way than the import does. */
function lineCount(content: string | Buffer): number {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const plain = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes
  const text = plain.toString('latin1').replaceAll('\0', '').replaceAll('\r\n', '\n')
  return text.replaceAll('\r', '\n').replace(/\n$/, '').split('\n').length
}
