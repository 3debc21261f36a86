import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, type Use } from '../../src/config.ts'
import { readConfig, variableNames } from '../../src/environment.ts'

const secret = 's'.repeat(32)
const database = { MONGODB_URI: 'mongodb://a.b/' }
const production = { NODE_ENV: 'production', AUTH_JWT_SECRET: secret, ...database }

function problemsOf(env: Record<string, string>, use?: Use): readonly string[] {
  try {
    readConfig(env, use)
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
      auth: { dev: true },
    })
  })

  test('an empty or blank variable counts as absent', () => {
    expect(readConfig({ PORT: '', OVERFLOW_THRESHOLD: '' })).toMatchObject({ http: { port: 4000 } })
    const blank = { PORT: ' ', MONGODB_URI: '  ', FEEDLINE_DATA: '\t' }
    expect(readConfig(blank)).toEqual(readConfig({}))
    expect(problemsOf({ ...production, AUTH_JWT_SECRET: ' '.repeat(40) })).toEqual([
      expect.stringContaining('production requires one of them'),
    ])
  })

  test.each(['abc', '4e3', '0x10', '+1', '-1', '80.5', '8 0', '65536'])(
    'the port "%s" is refused',
    (port) => {
      expect(problemsOf({ PORT: port })).toEqual([
        `PORT: must be a whole number from 0 to 65535, not "${port}"`,
      ])
    },
  )

  test('white space around a value is left out, as after a line of a file from Windows', () => {
    const given = {
      PORT: '80\r',
      HOST: ' 0.0.0.0 ',
      AUTH_JWT_SECRET: `${secret}\r`,
      OVERFLOW_THRESHOLD: '50\t',
    }
    expect(readConfig(given)).toMatchObject({
      http: { port: 80, host: '0.0.0.0' },
      auth: { main: { secret } },
      engagement: { capacity: 500 },
    })
  })

  test('HOST and ADMIN_HOST are addresses or names, and IPv6 may be in brackets', () => {
    const hosts = (host: string) => {
      const { http, operations } = readConfig({ HOST: host, ADMIN_HOST: host })
      return [http.host, operations.admin.host]
    }
    expect(hosts('[::]')).toEqual(['::', '::'])
    expect(hosts('::1')).toEqual(['::1', '::1'])
    expect(hosts('my-host.example')).toEqual(['my-host.example', 'my-host.example'])
    for (const host of ['http://0.0.0.0', '0.0.0.0:4000', '*', '[::]:80', 'a b']) {
      expect(problemsOf({ HOST: host, ADMIN_HOST: host })).toEqual(
        ['HOST', 'ADMIN_HOST'].map(
          (name) =>
            `${name}: must be an address or a host name without scheme and port, as in 0.0.0.0 or [::], not "${host}"`,
        ),
      )
    }
  })

  test.each([
    [{ MONGODB_URI: 'mongodb://h/' }, 'feedline'],
    [{ MONGODB_URI: 'mongodb://h/?replicaSet=a/b' }, 'feedline'],
    [{ MONGODB_URI: 'mongodb://h/mine' }, 'mine'],
    [{ MONGODB_URI: 'mongodb+srv://me:p%40ss@h.example/mine?appName=x/y' }, 'mine'],
    [{ MONGODB_URI: 'mongodb://a:1,[::1]:2/mine?replicaSet=x' }, 'mine'],
    [{ MONGODB_URI: 'mongodb://h/mine', MONGODB_DATABASE: 'other' }, 'other'],
    [{ MONGODB_URI: 'mongodb://h/admin', MONGODB_DATABASE: 'other' }, 'other'],
    [{}, 'feedline'],
  ])('MONGODB_DATABASE, or else the path of MONGODB_URI, names the database: %j', (given, name) => {
    expect(readConfig(given).database.name).toBe(name)
  })

  test.each(['admin', 'local', 'config', 'Admin', 'LOCAL'])(
    'MongoDB’s own database %s is refused by its name',
    (name) => {
      const own = "must not be one of MongoDB's own databases admin, config and local"
      expect(problemsOf({ MONGODB_DATABASE: name })).toEqual([
        `MONGODB_DATABASE: ${own}, not "${name}"`,
      ])
      expect(problemsOf({ MONGODB_URI: `mongodb://h/${name}` })).toEqual([
        `MONGODB_URI: the database in its path ${own}; set MONGODB_DATABASE, and the path only says where the user is stored`,
      ])
    },
  )

  test.each(['a.b', 'a b', 'a$b', 'ä', 'x'.repeat(64), 'a"b'])(
    'the name %s of a database is refused',
    (name) => {
      const rule = 'must be 1 to 63 letters, digits, "_" or "-"'
      const seen = `not ${JSON.stringify(name)}`
      expect(problemsOf({ MONGODB_DATABASE: name })).toEqual([`MONGODB_DATABASE: ${rule}, ${seen}`])
      const ofUri = problemsOf({ MONGODB_URI: `mongodb://h/${name}` })
      expect(ofUri[0]).toContain(`MONGODB_URI: the database in its path ${rule}; set`)
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
    const ofApps = [
      ...['capacitor://localhost', 'tauri://localhost', 'ionic://localhost', 'app://-'],
      ...['chrome-extension://abcdefghijklmnop', 'moz-extension://0f0f-1', 'app://host.example:81'],
    ]
    expect(readConfig({ CORS_ORIGINS: ofApps.join() }).http.corsOrigins).toEqual(ofApps)
    expect(readConfig({ CORS_ORIGINS: 'Tauri://LocalHost/' }).http.corsOrigins).toEqual([
      'tauri://localhost',
    ])
    const wrong = [
      ...['*', 'null', 'app.example', 'localhost:3000', 'https://*.example', 'file:///', 'app://'],
      ...['https://a.example/path', 'https://a.example/?', 'https://u@a.example', 'https://'],
      ...['capacitor://localhost/path', 'capacitor://u:p@localhost', 'tauri:localhost', 'app://*'],
      ...['app://a b', 'chrome-extension://a#b', '://a', 'http:a.example'],
    ]
    for (const origin of wrong) {
      expect(problemsOf({ CORS_ORIGINS: `https://b.example,${origin}` })).toEqual([
        `CORS_ORIGINS: must be an origin: scheme, host and port, as in https://app.example or capacitor://localhost, not "${origin.replace(/u:p@|u@/, '***@')}"`,
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
    const both = { AUTH_JWT_SECRET: secret, AUTH_JWKS_URL: 'https://a.b/jwks' }
    expect(problemsOf({ PORT: 'abc', ...both })).toEqual([
      expect.stringMatching(/^PORT: /),
      expect.stringContaining('only one may be set'),
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
    }
    const problems = problemsOf(wrong)
    const named = Object.keys(wrong).filter((name) => name !== 'NODE_ENV')
    for (const name of [...named, 'AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS']) {
      expect(problems).toContainEqual(expect.stringContaining(`${name}: `))
    }
    expect(problems).toHaveLength(named.length + 1)
  })

  test('production has no Dev sign-in', () => {
    expect(readConfig({}).auth.dev).toBe(true)
    expect(readConfig(production).auth.dev).toBe(false)
  })

  test('production requires a secret, a key set or issuers that verify tokens', () => {
    expect(problemsOf({ NODE_ENV: 'production', ...database })).toHaveLength(1)
    const jwks = { NODE_ENV: 'production', AUTH_JWKS_URL: 'https://a.b/jwks', ...database }
    expect(problemsOf(jwks)).toEqual([])
    const issuers = JSON.stringify([{ issuer: 'https://a.b', jwksUrl: 'https://a.b/jwks' }])
    const listed = { NODE_ENV: 'production', AUTH_ISSUERS: issuers, ...database }
    expect(problemsOf(listed)).toEqual([])
    expect(readConfig(listed).auth).toMatchObject({ dev: false, main: undefined })
  })

  test('a secret together with a key set and a short secret are refused', () => {
    const both = { AUTH_JWT_SECRET: secret, AUTH_JWKS_URL: 'https://a.b/jwks' }
    expect(problemsOf(both)).toEqual([expect.stringContaining('only one may be set')])
    expect(problemsOf({ AUTH_JWT_SECRET: 'short' })).toEqual([
      expect.stringContaining('at least 32'),
    ])
  })

  test('the maintained strategies are the named ones, the default strategy and FANOUT_ON_READ', () => {
    const maintained = (env: Record<string, string>) => readConfig(env).feed.maintained
    expect(maintained({})).toEqual(['FANOUT_ON_READ'])
    expect(maintained({ FEED_STRATEGY: 'CACHE' })).toEqual(['FANOUT_ON_READ', 'CACHE'])
    expect(maintained({ FEED_STRATEGY: 'INBOX', FEED_MAINTAINED: 'TIME_BUCKETS, CACHE' })).toEqual([
      'FANOUT_ON_READ',
      'TIME_BUCKETS',
      'CACHE',
      'INBOX',
    ])
    expect(problemsOf({ FEED_MAINTAINED: 'CACHE,ELSE' })).toEqual([
      expect.stringContaining('FEED_MAINTAINED'),
    ])
  })

  test('an embedded database is allowed outside production, and by MONGODB_URI=embedded', () => {
    const database = (env: Record<string, string>) => readConfig(env, 'none').database
    expect([database({}).mayEmbed, database(production).mayEmbed]).toEqual([true, false])
    expect(problemsOf({ ...production, MONGODB_URI: '' })).toEqual([
      'MONGODB_URI: production requires it; embedded runs one on this machine',
    ])
    const embedded = { uri: undefined, mayEmbed: true, name: 'feedline' }
    expect(database({ ...production, MONGODB_URI: 'embedded' })).toMatchObject(embedded)
  })

  test('production alone names all that it requires, by what the process does', () => {
    const env = { NODE_ENV: 'production' }
    expect(problemsOf(env)).toEqual([
      expect.stringContaining('MONGODB_URI: production requires it'),
      expect.stringContaining(
        'AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS: production requires',
      ),
    ])
    expect(problemsOf(env, 'database')).toEqual([
      expect.stringContaining('MONGODB_URI: production requires it'),
    ])
    expect(problemsOf(env, 'none')).toEqual([])
  })

  test('the admin port is fixed in production, and any free one elsewhere', () => {
    expect(readConfig({}).operations.admin.port).toBe(0)
    expect(readConfig(production).operations.admin.port).toBe(4001)
  })

  test('production drains for 10 s by default, other environments stop at once', () => {
    const times = (env: Record<string, string>) => {
      const { drainMs, stopMs } = readConfig(env).operations
      return [drainMs, stopMs]
    }
    expect(times({})).toEqual([0, 15_000])
    expect(times(production)).toEqual([10_000, 15_000])
    expect(times({ ...production, DRAIN_SECONDS: '0' })).toEqual([0, 15_000])
    expect(problemsOf({ DRAIN_SECONDS: '-1' })).toEqual([expect.stringMatching(/^DRAIN_SECONDS: /)])
  })

  test('RESERVED_HANDLES replaces the standard list, and a comma reserves none', () => {
    const reserved = (given: Record<string, string>) => readConfig(given).users.reservedHandles
    expect(reserved({})).toContain('admin')
    expect(reserved({ RESERVED_HANDLES: 'ceo, cto' })).toEqual(['ceo', 'cto'])
    expect(reserved({ RESERVED_HANDLES: ',' })).toEqual([])
  })

  test('OVERFLOW_THRESHOLD sets the sizes of all lists of a post', () => {
    const engagement = (given: Record<string, string>) => readConfig(given).engagement
    const standard = { thresholds: { likes: 100, comments: 20, shares: 100 }, capacity: 1_000 }
    expect(engagement({})).toEqual(standard)
    const small = { thresholds: { likes: 2, comments: 1, shares: 2 }, capacity: 20 }
    expect(engagement({ OVERFLOW_THRESHOLD: '2' })).toEqual(small)
  })

  test('list variables are read with any spaces', () => {
    expect(readConfig({ BLOCKED_WORDS: ' a, b ,,c' }).posts.blockedWords).toEqual(['a', 'b', 'c'])
  })
})

test('docs/reference/configuration.md has one row of each variable, with its default and its reason', async () => {
  const text = await readFile(
    join(import.meta.dirname, '../../docs/reference/configuration.md'),
    'utf8',
  )
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+?) \| (.+?) \| (\w+) \|$/gm)]
  expect(rows.map(([, name]) => name)).toEqual(variableNames)
  expect(new Set(variableNames).size).toBe(variableNames.length)
  for (const [, name, , , reason] of rows) expect(reason, name).toMatch(/[^.]$/)
})
