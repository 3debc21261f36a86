import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import { loadTrustedDocuments } from '../../src/graphql/trusted-documents.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { useFolder } from '../support/folder.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const { folder, write } = useFolder('feedline-documents-')
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

const user = 'query User($handle: String!) { user(handle: $handle) { handle } }'
const follow = 'mutation Join($name: String!) { createUser(input: { name: $name }) { __typename } }'
const two = 'query Me { viewer { handle } } query Ann { user(handle: "ann") { handle } }'
const home = '{ timeline(first: 5) { edges { node { id text } } } }'
const file = write('documents.json', { md5: user, join: follow, two, home })
const env = { TRUSTED_DOCUMENTS: file, FEED_STRATEGY: 'INBOX' }

const secret = 's'.repeat(32)
const production = useApp({ ...env, NODE_ENV: 'production', AUTH_JWT_SECRET: secret })
const development = useApp(env)

beforeAll(async () => {
  for (const app of [production, development]) await openAccounts(app.services, [handle('ann')])
})

/** A body, or the parameters of a URL. */
type Members = Readonly<Record<string, unknown>>

async function read(answer: Response) {
  const { data, errors } = (await answer.json()) as {
    data?: unknown
    errors?: { extensions: { code: string } }[]
  }
  return { status: answer.status, data, code: errors?.[0]?.extensions.code ?? 'OK' }
}
const post = async (members: unknown, to = production) =>
  read(
    await fetch(`${to.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(members),
    }),
  )
const urlOf = (members: Members, to = production) => {
  const texts = Object.entries(members).map(([name, value]) => [
    ...[name, typeof value === 'string' ? value : JSON.stringify(value)],
  ])
  return `${to.url}/graphql?${new URLSearchParams(texts as [string, string][])}`
}
const get = async (members: Members, to = production) => read(await fetch(urlOf(members, to)))
const apollo = (sha256Hash: string) => ({
  extensions: { persistedQuery: { version: 1, sha256Hash } },
})

const variables = { handle: 'ann' }
const names: Readonly<Record<string, Members>> = {
  'the hash of Apollo': apollo(hashOf(user)),
  'the id of a manifest of Apollo': apollo('md5'),
  documentId: { documentId: 'md5' },
  'documentId with its algorithm': { documentId: `sha256:${hashOf(user)}` },
  'doc_id of Relay': { doc_id: 'md5', query: null },
  'id of Relay': { id: 'md5' },
  'its text': { query: user },
  'its text and its hash': { query: user, ...apollo(hashOf(user)) },
}

describe.each(Object.entries(names))('a trusted document is named by %s', (_, name) => {
  test('a trusted document is executed by POST and GET, in production and in development', async () => {
    const found = { status: 200, data: { user: { handle: 'ann' } }, code: 'OK' }
    const { query, ...given } = name
    const parameters = { ...given, ...(query ? { query } : {}), variables }
    for (const app of [production, development]) {
      expect(await post({ ...name, variables }, app)).toEqual(found)
      expect(await get(parameters, app)).toEqual(found)
    }
  })
})

const evil = '{ viewer { __typename } }'
const refused: Readonly<Record<string, unknown>> = {
  'another text': { query: evil },
  'the text with a space': { query: `${user} `, variables },
  'an empty text': { query: '' },
  'a text with the id of a trusted document': { query: evil, documentId: 'md5', id: 'md5' },
  'a text with the hash of a trusted document': { query: evil, ...apollo(hashOf(user)) },
  'an unknown hash': apollo(hashOf(evil)),
  'a text with its hash': { query: evil, ...apollo(hashOf(evil)) },
  'an unknown id': { id: 'constructor' },
  'an unknown documentId': { documentId: 'sha256:md6' },
  'no document': { variables: { a: 1 } },
  introspection: { query: '{ __schema { queryType { name } } }' },
  'two ids': { id: 'md5', doc_id: 'home' },
  'an id beside a hash of another document': { id: ['md5'] },
  'a list of requests': [{ query: user, variables }],
}

describe('production with trusted documents', () => {
  test.each(Object.entries(refused))('refuses %s without a command', async (name, members) => {
    const codes = ['PERSISTED_QUERY_NOT_IN_LIST', 'BAD_REQUEST']
    const { commands } = await recorded(production.database.client, async () => {
      const posted = await post(members)
      expect([posted.status, codes.includes(posted.code)], name).toEqual([400, true])
      if (Array.isArray(members)) return
      const got = await get(members as Members)
      expect([got.status, codes.includes(got.code)], name).toEqual([400, true])
    })
    expect(commands).toEqual([])
  })

  test('refuses a URL that names several documents', async () => {
    const url = urlOf({ documentId: 'md5', variables })
    for (const more of ['&documentId=home', '&id=md5', `&query=${encodeURIComponent(evil)}`]) {
      expect((await read(await fetch(`${url}${more}`))).status).toBe(400)
    }
  })

  test('executes the operation that the request names, and mutations by POST only', async () => {
    const ann = await post({ id: 'two', operationName: 'Ann' })
    expect(ann).toMatchObject({ data: { user: { handle: 'ann' } } })
    expect(await post({ id: 'two' })).toMatchObject({ code: 'OPERATION_RESOLUTION_FAILURE' })
    const named = { documentId: 'join', variables: { name: 'Ann' } }
    expect(await get(named)).toMatchObject({ status: 405 })
    expect(await post(named)).toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  test('logs nothing of all this', () => {
    expect(production.logged.filter((line) => !line.includes('"msg":"request"'))).toEqual([])
  })
})

describe('development with trusted documents', () => {
  test('executes other documents too: those of a client, stored ones and introspection', async () => {
    const introspection = '{ __schema { queryType { name } } }'
    expect(await post({ query: introspection }, development)).toMatchObject({ code: 'OK' })
    expect(await post({ query: evil, ...apollo(hashOf(evil)) }, development)).toMatchObject({
      code: 'OK',
    })
    expect(await post(apollo(hashOf(evil)), development)).toMatchObject({ code: 'OK' })
    expect((await fetch(`${development.url}/`)).status).toBe(200)
  })

  test('an answer of a trusted document by GET costs the read of its entries, and is sent again without a body', async () => {
    const url = urlOf({ documentId: 'home' }, development)
    const headers = { authorization: 'Dev ann' }
    for (let times = 0; times < 3; times++) await (await fetch(url, { headers })).text()
    const first = await fetch(url, { headers })
    expect(await first.json()).toEqual({
      data: { timeline: { edges: [] } },
      extensions: expect.anything(),
    })
    const etag = first.headers.get('etag') ?? ''
    const { result, commands } = await recorded(development.database.client, () =>
      fetch(url, { headers: { ...headers, 'if-none-match': etag } }),
    )
    expect([result.status, labelsOf(commands)]).toEqual([304, ['read inbox']])
  })
})

describe('the file of trusted documents', () => {
  const load = (path: string) => loadTrustedDocuments(path, { production: true })
  const problemsOf = async (path: string) => {
    const error = await load(path).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).problems.map((one) =>
      one.replace(`TRUSTED_DOCUMENTS: ${path} `, ''),
    )
  }
  const manifest = (...operations: object[]) => ({
    ...{ format: 'apollo-persisted-query-manifest', version: 1, operations },
  })

  test('may be a manifest of Apollo', async () => {
    const body = 'query Me { viewer { handle } }'
    const operation = { id: 'me', name: 'Me', type: 'query', body }
    const trusted = await load(write('manifest.json', manifest(operation)))
    expect([trusted?.size, trusted?.find('me')]).toEqual([1, body])
  })

  test.each<[string, unknown, readonly unknown[]]>([
    ['no JSON', '{', ['is not JSON']],
    ['a list', '[]', [expect.stringMatching(/^is not a JSON object of documents by their ids: /)]],
    ['a map of objects', { a: {} }, [expect.stringMatching(/^is not .*: a: /)]],
    ['no document', {}, ['has no document']],
    ['a manifest without documents', manifest(), ['has no document']],
    [
      'a manifest of another version',
      { ...manifest(), version: 2 },
      [expect.stringMatching(/^is not a manifest of version 1: version: /)],
    ],
    ['an id twice', manifest({ id: 'a', body: user }, { id: 'a', body: two }), ['has an id twice']],
    [
      'wrong documents, all of which are named',
      { a: '{', b: '{ nothing }', c: 'subscription { x }', d: 'fragment F on User { id }', user },
      [
        expect.stringMatching(/^has a wrong document "a": Syntax Error/),
        'has a wrong document "b": Cannot query field "nothing" on type "Query".',
        expect.stringMatching(/^has a wrong document "c": /),
        'has a wrong document "d": Fragment "F" is never used.',
      ],
    ],
    [
      'a document beyond a limit',
      { a: `{ ${Array.from({ length: 31 }, (_, n) => `a${n}: viewer { handle }`).join(' ')} }` },
      ['has a wrong document "a": The document exceeds the limit of 30 aliases'],
    ],
    [
      'a document with more than 2,000 selections',
      { a: `{ ${'...F '.repeat(70)} } fragment F on Query { ${'viewer { handle } '.repeat(15)} }` },
      ['has a wrong document "a": The document exceeds the limit of 2000 selections'],
    ],
    [
      'introspection',
      { a: '{ __schema { queryType { name } } }' },
      ['has a wrong document "a": Introspection is disabled on this server'],
    ],
  ])('is refused at start: %s', async (_, content, problems) => {
    expect(await problemsOf(write('wrong.json', content))).toEqual(problems)
  })

  test('is refused at start: a file that does not exist', async () => {
    expect(await problemsOf(join(folder, 'none.json'))).toEqual(['cannot be read (ENOENT)'])
  })
})
