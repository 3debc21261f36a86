import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EdgeList } from '../../packages/import/edge-list.ts'
import { quoteProblem } from '../../packages/import/separated.ts'
import { badLinesKept, lineUnitsMax } from '../../packages/import/text-file.ts'
import type { NamedBy } from '../../packages/import/user-names.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-edges-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What a file with this content holds: `from>to`, and the bad lines. */
async function parsed(content: string | Buffer, name = 'edges.txt', namedBy?: NamedBy) {
  const path = join(folder, name)
  await writeFile(path, content)
  const list = await EdgeList.open(path, namedBy)
  const lines: number[] = []
  const edges: string[] = []
  for await (const { line, from, to } of list.rows()) {
    lines.push(line)
    edges.push(`${from}>${to}`)
  }
  return { edges, lines, bad: list.findings.bad, list }
}

describe('formats', () => {
  test.each([
    ['spaces', '1 0\n15  0\n'],
    ['tabs, no last line end', '1\t0\n15\t0'],
    ['commas and line ends of Windows', '1,0\r\n15, 0\r\n'],
    ['weights', '1 0 0.5\n15 0 -2e3'],
    ['quotes', '"1","0"\n"15","0"'],
    ['comments and blank lines', '# Nodes: 3\n% bip\n\n1 0\n# mid\n15 0\n'],
    ['a byte order mark', '\uFEFF1 0\n15 0'],
  ])('an edge list in the format "%s" is read', async (_, content) => {
    const { edges, bad } = await parsed(content)
    expect(edges).toEqual(['1>0', '15>0'])
    expect(bad).toEqual({ count: 0, first: [] })
  })

  test('names in an edge list become handles in lower case', async () => {
    expect((await parsed('Ann Bob.B\n')).edges).toEqual(['ann>bob.b'])
  })

  test('names in an edge list of subjects keep their case, and may have any characters but control characters', async () => {
    const text = 'auth0|Ann,"google, ""oauth2""|7"\nÉva,王\nann,\u0007\n'
    const { edges, bad } = await parsed(text, 'subjects.csv', { issuer: '', isMain: true })
    expect(edges).toEqual(['auth0|Ann>google, "oauth2"|7', 'Éva>王'])
    expect(bad.first).toMatchObject([
      { line: 3, problem: expect.stringContaining('is not a subject') },
    ])
  })

  test('a gzipped edge list is recognised by its first bytes, not by its name', async () => {
    const content = gzipSync('1 0\n15 0\n')
    expect((await parsed(content, 'a.gz')).edges).toEqual(['1>0', '15>0'])
    expect((await parsed(content, 'a.txt')).edges).toEqual(['1>0', '15>0'])
  })

  test('UTF-16 without a byte order mark, and line ends across chunks, are read', async () => {
    const content = Buffer.from('1 0\r\n15 0\r', 'utf16le')
    expect((await parsed(content)).edges).toEqual(['1>0', '15>0'])
    // Each chunk of a file has 65,536 bytes.
    const long = await parsed(`${'1 0  \r\n'.repeat(20_000)}15 0`)
    expect(long.lines).toHaveLength(20_001)
    expect(long.lines.at(-1)).toBe(20_001)
  })

  test('bytes that are not UTF-8 make no subject, and do not matter beside handles', async () => {
    const content = Buffer.from('ann,bob,caf\xe9\nann,cem,caf\xe9\nann,Jos\xe9,x\n', 'latin1')
    expect((await parsed(content)).edges).toEqual(['ann>bob', 'ann>cem'])
    const subjects = await parsed(content, 'latin1.csv', { issuer: '', isMain: true })
    expect(subjects.edges).toEqual(['ann>bob', 'ann>cem'])
    expect(subjects.bad.first.map(({ line }) => line)).toEqual([3])
  })
})

describe('header', () => {
  test.each([
    ['node_1,node_2\n0,1', ['0>1']],
    ['# friends\nsource,target,weight\nann,bob,1', ['ann>bob']],
    ['from\tto\nann\tbob', ['ann>bob']],
    ['person,other\n1,2', ['1>2']],
    ['ann,bob\nbob,cy', ['ann>bob', 'bob>cy']],
    ['ann,bob\n1,cy', ['ann>bob', '1>cy']],
    ['ann,bob', ['ann>bob']],
    ['1,2\nfrom,to\nto,1', ['1>2', 'from>to', 'to>1']],
  ])('the header of an edge list is recognised: %j', async (content, edges) => {
    const found = await parsed(content)
    expect(found.edges).toEqual(edges)
    expect(found.bad.count).toBe(0)
  })
})

describe('bad lines', () => {
  test('each invalid line of an edge list is reported with its number and problem, and reading continues', async () => {
    const long = 'x'.repeat(lineUnitsMax + 1)
    const { edges, lines, bad } = await parsed(
      `# c\nann\nann bob 1 2\nann b@b\nann Ann\na b w\n${long}\n${'1 2\n'.repeat(6)}`,
    )
    expect(edges).toEqual(Array(6).fill('1>2'))
    expect(lines[0]).toBe(8)
    expect(bad.count).toBe(6)
    expect(bad.first.map(({ line, problem }) => `${line}: ${problem}`)).toEqual([
      expect.stringContaining('2: has 1 field,'),
      expect.stringContaining('3: has 4 fields,'),
      expect.stringContaining('4: "b@b" is not a handle'),
      '5: "ann" would follow itself',
      expect.stringContaining('6: has 3 fields,'),
      expect.stringContaining('7: is longer than'),
    ])
  })

  test('a quoted field of an edge list holds commas and quotes, and an open quote is reported', async () => {
    const lines = [
      '1,2',
      '"a,b",c',
      '"say ""hi""",c',
      '"1, 2',
      '3,x"4"',
      '"5", "6"',
      '7,8',
      '9,7',
      '7,9',
    ]
    const { edges, bad } = await parsed(lines.join('\n'))
    expect(edges).toEqual(['1>2', '5>6', '7>8', '9>7', '7>9'])
    expect(bad.first.map(({ line, problem }) => `${line}: ${problem}`)).toEqual([
      expect.stringContaining('2: "a,b" is not a handle'),
      expect.stringContaining('3: "say "hi"" is not a handle'),
      `4: ${quoteProblem}`,
      `5: ${quoteProblem}`,
    ])
  })

  test('all invalid lines are counted and the first twenty kept, afresh on each read', async () => {
    const { bad, list } = await parsed(`${'1 2\n'.repeat(60)}${'oops\n'.repeat(50)}`)
    expect(bad.count).toBe(50)
    expect(bad.first).toHaveLength(badLinesKept)
    for (let walk = 0; walk < 2; walk++) {
      for await (const _ of list.rows());
      expect(list.findings.bad.count).toBe(50)
    }
  })
})

describe('files', () => {
  test('a large edge list is read completely, wherever chunks end', async () => {
    const rows = Array.from({ length: 60_000 }, (_, n) => `user${n} user${n + 1}`)
    const { edges, lines, list } = await parsed(rows.join('\n'))
    expect(edges).toEqual(rows.map((row) => row.replace(' ', '>')))
    expect(lines.at(-1)).toBe(60_000)
    expect(list.file.bytesRead).toBe(list.file.sizeBytes)
  })

  test('an endless line is not held in memory', async () => {
    const path = join(folder, 'long.gz')
    await writeFile(
      path,
      gzipSync(Buffer.concat([Buffer.from('1 2\n3 1\n'), Buffer.alloc(200_000_000, 'x')])),
    )
    const source = new URL('../../packages/import/edge-list.ts', import.meta.url)
    const script = `
      const { EdgeList } = await import('${source}')
      const list = await EdgeList.open('${path}')
      for await (const _ of list.rows());
      process.stdout.write(String(list.findings.bad.count))`
    // The heap of a process of its own, because garbage of this one counts too.
    const limited = ['--max-old-space-size=64', '--import', 'tsx', '--input-type=module']
    const { stdout } = await promisify(execFile)(process.execPath, [...limited, '-e', script])
    expect(stdout).toBe('1')
  })

  test('an unreadable edge list is reported in one sentence', async () => {
    await expect(EdgeList.open(join(folder, 'none'))).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringContaining('cannot be read (ENOENT)'),
    })
    await expect(EdgeList.open(folder)).rejects.toThrow('is not a file')
    await expect(parsed('1 2', 'not.gz')).rejects.toThrow('is not a gzip file, or is damaged')
    const cut = gzipSync('1 2\n'.repeat(1_000)).subarray(0, 30)
    await expect(parsed(cut, 'cut.gz')).rejects.toThrow('is not a gzip file, or is damaged')
  })
})
