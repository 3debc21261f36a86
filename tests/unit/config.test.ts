import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config.ts'
import { readConfig, variableNames } from '../../src/environment.ts'

const secret = 's'.repeat(32)
const production = { NODE_ENV: 'production', AUTH_JWT_SECRET: secret }

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

describe('configuration', () => {
  test('the configuration needs no variable: the default is an embedded database on localhost', () => {
    expect(readConfig({})).toMatchObject({
      production: false,
      http: { host: '127.0.0.1', port: 4000 },
      database: { uri: undefined, name: 'feedline' },
      following: 'collection',
      feed: { strategy: 'FANOUT_ON_READ' },
      auth: { dev: true, algorithms: ['HS256'] },
    })
  })

  test('an empty or blank variable counts as absent', () => {
    expect(readConfig({ PORT: '', AUTH_DEV: '' })).toMatchObject({ http: { port: 4000 } })
    const blank = { PORT: ' ', MONGODB_URI: '  ', FEEDLINE_DATA: '\t', MONGOD_BINARY: ' ' }
    expect(readConfig(blank)).toEqual(readConfig({}))
    expect(problemsOf({ ...production, AUTH_JWT_SECRET: ' '.repeat(40) })).toEqual([
      expect.stringContaining('production requires one of them'),
    ])
  })

  test.each(['abc', '4e3', '0x10', '+1', '-1', '80.5', ' 80', '65536'])(
    'the port "%s" is refused',
    (port) => {
      expect(problemsOf({ PORT: port })).toEqual(['PORT: must be a whole number from 0 to 65535'])
    },
  )

  test.each(['0', '65535', '0080'])('the port %s is accepted', (port) => {
    expect(readConfig({ PORT: port }).http.port).toBe(Number(port))
  })

  test('origins are normalised as browsers send them, and other texts are refused', () => {
    const given =
      'https://App.Example/, http://a.example:80, https://b.example:8443,http://[::1]:90'
    expect(readConfig({ CORS_ORIGINS: given }).http.corsOrigins).toEqual([
      ...['https://app.example', 'http://a.example', 'https://b.example:8443', 'http://[::1]:90'],
    ])
    const wrong = [
      ...['*', 'null', 'app.example', 'localhost:3000', 'ftp://a.example', 'https://*.example'],
      ...['https://a.example/path', 'https://a.example/?', 'https://u@a.example', 'https://'],
    ]
    for (const origin of wrong) {
      expect(problemsOf({ CORS_ORIGINS: `https://b.example,${origin}` })).toEqual([
        `CORS_ORIGINS: "${origin}" is not an origin: write scheme, host and port, as in https://app.example`,
      ])
    }
  })

  test.each(['CACHE_SIZE', 'SIZED_BUCKET_SIZE'])(
    'a %s whose texts exceed the size of a document is refused',
    (name) => {
      expect(problemsOf({ [name]: '4000' })).toEqual([])
      expect(problemsOf({ [name]: '4001' })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: .*4000`)),
      ])
    },
  )

  test('the configuration reports conflicting variables also if another variable is invalid', () => {
    expect(problemsOf({ PORT: 'abc', AUTH_JWT_SECRET: secret, AUTH_ALGORITHMS: 'RS256' })).toEqual([
      expect.stringMatching(/^PORT: /),
      expect.stringMatching(/^AUTH_ALGORITHMS: RS256 cannot be used with/),
    ])
    expect(problemsOf({ ...production, AUTH_JWT_SECRET: 'short' })).toEqual([
      expect.stringContaining('at least 32'),
    ])
  })

  test('the configuration reports all invalid and conflicting variables at once', () => {
    const wrong = {
      NODE_ENV: 'production',
      PORT: '70000',
      MONGODB_URI: 'http://a',
      MONGODB_DATABASE: 'a.b',
      FOLLOWING: 'both',
      FEED_STRATEGY: 'MAGIC',
      AUTH_DEV: 'true',
    }
    const problems = problemsOf(wrong)
    const named = Object.keys(wrong).filter((name) => name !== 'NODE_ENV')
    for (const name of [...named, 'AUTH_JWT_SECRET or AUTH_JWKS_URL']) {
      expect(problems).toContainEqual(expect.stringContaining(`${name}: `))
    }
    expect(problems).toHaveLength(named.length + 1)
  })

  test('production refuses AUTH_DEV=true, and disables it by default', () => {
    expect(problemsOf({ ...production, AUTH_DEV: 'true' })).toEqual([
      expect.stringMatching(/^AUTH_DEV: must not be true in production/),
    ])
    expect(readConfig(production).auth.dev).toBe(false)
    expect(readConfig({ ...production, AUTH_DEV: 'false' }).auth.dev).toBe(false)
  })

  test('production requires a secret or a key set that verifies tokens', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toHaveLength(1)
    const jwks = { NODE_ENV: 'production', AUTH_JWKS_URL: 'https://a.b/jwks' }
    expect(readConfig(jwks).auth.algorithms).toEqual(['RS256', 'ES256', 'EdDSA'])
  })

  test('a secret together with a key set, a short secret and unsuitable algorithms are refused', () => {
    const both = { AUTH_JWT_SECRET: secret, AUTH_JWKS_URL: 'https://a.b/jwks' }
    expect(problemsOf(both)).toEqual([expect.stringContaining('only one may be set')])
    expect(problemsOf({ AUTH_JWT_SECRET: 'short' })).toEqual([
      expect.stringContaining('at least 32'),
    ])
    const confused = { AUTH_JWKS_URL: 'https://a.b/jwks', AUTH_ALGORITHMS: 'RS256,HS256' }
    expect(problemsOf(confused)).toEqual([
      expect.stringContaining('HS256 cannot be used with AUTH_JWKS_URL'),
    ])
    expect(problemsOf({ AUTH_JWT_SECRET: secret, AUTH_ALGORITHMS: 'none' })).toHaveLength(1)
  })

  test('the maintained strategies are the named ones, the default strategy and FANOUT_ON_READ', () => {
    const maintained = (env: Record<string, string>) => readConfig(env).feed.maintained
    expect(maintained({})).toEqual(['FANOUT_ON_READ'])
    expect(maintained({ FEED_STRATEGY: 'CACHE' })).toEqual(['FANOUT_ON_READ', 'CACHE'])
    expect(maintained({ FEED_STRATEGY: 'INBOX', FEED_MAINTAINED: 'HYBRID, CACHE' })).toEqual([
      'FANOUT_ON_READ',
      'CACHE',
      'INBOX',
      'HYBRID',
    ])
    expect(problemsOf({ FEED_MAINTAINED: 'CACHE,ELSE' })).toEqual([
      expect.stringContaining('FEED_MAINTAINED'),
    ])
  })

  test('an embedded database is allowed outside production, and by EMBEDDED_MONGODB', () => {
    const mayEmbed = (env: Record<string, string>) => readConfig(env).database.mayEmbed
    expect([mayEmbed({}), mayEmbed(production)]).toEqual([true, false])
    expect(mayEmbed({ ...production, EMBEDDED_MONGODB: 'true' })).toBe(true)
    expect(mayEmbed({ EMBEDDED_MONGODB: 'false' })).toBe(false)
  })

  test('production drains for 10 s by default, other environments stop at once', () => {
    const times = (env: Record<string, string>) => {
      const { drainMs, stopMs } = readConfig(env).operations
      return [drainMs, stopMs]
    }
    expect(times({})).toEqual([0, 15_000])
    expect(times(production)).toEqual([10_000, 15_000])
    expect(times({ ...production, DRAIN_SECONDS: '0', STOP_SECONDS: '5' })).toEqual([0, 5_000])
    expect(problemsOf({ DRAIN_SECONDS: '-1', STOP_SECONDS: '0' })).toEqual([
      expect.stringMatching(/^DRAIN_SECONDS: /),
      expect.stringMatching(/^STOP_SECONDS: /),
    ])
  })

  test('RESERVED_HANDLES replaces the standard list, and a comma reserves none', () => {
    const reserved = (given: Record<string, string>) => readConfig(given).users.reservedHandles
    expect(reserved({})).toContain('admin')
    expect(reserved({ RESERVED_HANDLES: 'ceo, cto' })).toEqual(['ceo', 'cto'])
    expect(reserved({ RESERVED_HANDLES: ',' })).toEqual([])
  })

  test('list variables are read with any spaces', () => {
    expect(readConfig({ BLOCKED_WORDS: ' a, b ,,c' }).posts.blockedWords).toEqual(['a', 'b', 'c'])
  })
})

test('docs/processes.md states in one row of each variable whether processes may differ in it', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/processes.md'), 'utf8')
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` *\| ([a-z ]+?) *\|/gm)]
  expect(rows.map(([, name]) => name).sort()).toEqual([...variableNames].sort())
  const kinds = ['any value', 'follows the database', 'must be equal']
  for (const [, name, kind] of rows) expect(kinds, name).toContain(kind)
})
