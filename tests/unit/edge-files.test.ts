import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EdgeList } from '../../packages/import/edge-list.ts'
import { edgeFiles } from '../support/edge-files.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-edge-files-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The edges of a file, and its lines by what they hold; or why it is refused. */
async function readAll({ content, issuer }: (typeof edgeFiles)[number]) {
  const path = join(folder, 'file')
  await writeFile(path, content)
  try {
    const list = await EdgeList.open(
      path,
      issuer === undefined ? undefined : { issuer, isMain: true },
    )
    const edges: string[] = []
    for await (const { from, to } of list.rows()) edges.push(`${from}>${to}`)
    return { edges, lines: list.findings.lines }
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

test.each(edgeFiles)('an edge list is read or refused as what it is: $name', async (file) => {
  const found = await readAll(file)
  if (file.refused !== undefined) {
    expect(found).toEqual({ refused: expect.stringContaining(file.refused) })
    expect(found.refused?.length).toBeLessThan(500)
    return
  }
  const none = { headings: 0, comments: 0, empty: 0, self: 0, invalid: 0 }
  expect(found).toMatchObject({ edges: file.edges })
  expect(found.lines).toMatchObject({ ...none, ...file.lines, edges: file.edges?.length })
  const { read = 0, ...held } = found.lines ?? {}
  expect(Object.values(held).reduce((sum, count) => sum + count, 0)).toBe(read)
})
