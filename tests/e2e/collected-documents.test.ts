import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectDocuments, formatDocuments } from '../../packages/documents/collect.ts'
import { loadTrustedDocuments } from '../../src/graphql/trusted-documents.ts'
import { useFolder } from '../support/folder.ts'
import { feedline } from '../support/process.ts'

const { folder, write } = useFolder('feedline-collected-')
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

describe('feedline documents', () => {
  const queries = join(folder, 'queries')

  test('writes operations with the fragments of all files, in both forms', async () => {
    write('queries/home.graphql', 'query Home { timeline { edges { node { ...Card } } } }')
    write('queries/below/card.gql', 'fragment Card on Post { text author { ...Face } }')
    write('queries/below/face.graphql', 'fragment Face on User { __typename handle }')
    write('queries/below/readme.md', 'not { GraphQL')
    write('queries/alone.graphql', 'mutation Alone { __typename }')
    const documents = await collectDocuments(queries)
    expect(documents.map(({ name, type }) => [name, type])).toEqual([
      ['Alone', 'mutation'],
      ['Home', 'query'],
    ])
    const [, homes] = documents
    expect(homes?.id).toBe(hashOf(homes?.body ?? ''))
    expect(homes?.body.replaceAll(/\s+/g, ' ')).toBe(
      'query Home { timeline { edges { node { ...Card __typename } __typename } __typename } } ' +
        'fragment Card on Post { text author { ...Face __typename } __typename } ' +
        'fragment Face on User { __typename handle }',
    )
    for (const format of ['relay', 'apollo'] as const) {
      const path = write(`${format}.json`, formatDocuments(documents, format))
      const trusted = await loadTrustedDocuments(path, { production: true })
      expect(trusted?.find(homes?.id ?? '')).toBe(homes?.body)
    }
    expect(JSON.parse(readFileSync(join(folder, 'apollo.json'), 'utf8'))).toMatchObject({
      ...{ format: 'apollo-persisted-query-manifest', version: 1 },
      operations: [
        { name: 'Alone', type: 'mutation' },
        { name: 'Home', id: homes?.id },
      ],
    })
  })

  test('runs on the command line without a database, and writes no file after a problem', async () => {
    write('program/a.graphql', 'query A { viewer { ...F } }')
    const out = join(folder, 'program.json')
    const run = async () => {
      const program = feedline(['documents', join(folder, 'program'), '--out', out])
      return { code: await program.ended, out: program.out(), err: program.err() }
    }
    expect(await run()).toEqual({
      ...{ code: 1, out: '', err: 'feedline: A: Unknown fragment "F".\n' },
    })
    expect(existsSync(out)).toBe(false)
    write('program/f.graphql', 'fragment F on Viewer { handle }')
    expect(await run()).toEqual({ code: 0, out: `documents in ${out}: 1\n`, err: '' })
    expect(Object.keys(JSON.parse(readFileSync(out, 'utf8')))).toHaveLength(1)
  })

  test('names every problem of a folder', async () => {
    write('wrong/a.graphql', 'query A { viewer { handle } }\nquery {')
    write('wrong/b.graphql', 'query B { viewer { ...Missing } } query C { nothing }')
    write('wrong/c.graphql', 'query B { viewer { handle } } { viewer { handle } } type T { a: ID }')
    const problems = await collectDocuments(join(folder, 'wrong')).catch((error) => error.message)
    expect(problems.split('; ')).toEqual([
      expect.stringMatching(/^a\.graphql:2: Syntax Error/),
      'c.graphql: the name B is used twice',
      'c.graphql: an operation has no name',
      'c.graphql: only operations and fragments are collected',
      'B: Unknown fragment "Missing".',
      'C: Cannot query field "nothing" on type "Query".',
    ])
    const none = collectDocuments(join(folder, 'queries/below'))
    await expect(none).rejects.toThrow('no file has an operation')
  })
})
