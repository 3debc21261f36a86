import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { variableNames } from '../../src/environment.ts'
import { sentenceOf, type Variables } from '../support/failed-start.ts'
import { useFolder } from '../support/folder.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()
const { folder } = useFolder('feedline-start-')

describe('a wrong variable', () => {
  const whole = (min: number, max: number) => `must be a whole number from ${min} to ${max}`
  const decimal = (min: number, max: number) => `must be a number from ${min} to ${max}`
  const strategies = 'must be one of FANOUT_ON_READ, '
  const url = 'must be an http or https URL'
  const mongodb = 'must start with mongodb:// or mongodb+srv://, or be embedded'
  const host = 'must be an address or a host name'

  /**
   * A wrong value of each variable, and what it must be. 'any': each text may be right, or is tried
   * below.
   */
  const rows: Readonly<Record<string, readonly [value: string, expected: string] | 'any'>> = {
    NODE_ENV: ['prod', 'must be one of development, test, production'],
    HOST: ['http://0.0.0.0', host],
    PORT: ['80.5', whole(0, 65_535)],
    CORS_ORIGINS: ['https://a.example/path', 'must be an origin'],
    TRUSTED_DOCUMENTS: 'any',
    TRUSTED_PROXIES: ['10.0.0.0/33', 'must be an address or a network'],
    RATE_LIMIT_COST: ['19999', 'must be 0, or a whole number from 20000 to 1000000000'],
    RATE_LIMIT_MUTATIONS: ['1.5', 'must be 0, or a whole number from 1 to 1000000000'],
    RATE_LIMIT_ACTING: ['0', whole(1, 1_000_000)],
    RATE_LIMIT_STORE: ['redis', 'must be one of memory, mongodb'],
    REQUEST_TIMEOUT_SECONDS: ['0', decimal(0.1, 300)],
    LOG_LEVEL: ['verbose', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    MONGODB_URI: ['http://me:hidden@h', mongodb],
    MONGODB_DATABASE: ['admin', "must not be one of MongoDB's own databases"],
    FEEDLINE_DATA: 'any',
    FOLLOWING: ['both', 'must be one of collection, reverse-index'],
    OVERFLOW_THRESHOLD: ['0', whole(1, 10_000)],
    AUTH_JWT_SECRET: ['hidden', 'must be at least 32 characters, and has 6'],
    AUTH_JWKS_URL: ['keys.example', url],
    AUTH_ISSUER: ['two words', 'must be 1 to 255 bytes without white space'],
    AUTH_FORMER_ISSUERS: ['two words', 'must be 1 to 255 bytes without white space'],
    AUTH_AUDIENCE: [',', 'must name an audience'],
    AUTH_ALGORITHMS: ['none', 'must be one of HS256, HS384, HS512, RS256, '],
    AUTH_SUBJECT_CLAIM: 'any',
    AUTH_ROLES_CLAIM: 'any',
    AUTH_KEYS_SECONDS: ['9', 'must be a number from 10 to 3600'],
    AUTH_ISSUERS: ['hidden', 'must be a JSON array of 1 to 20 issuers'],
    RESERVED_HANDLES: 'any',
    HANDLE_RESERVED_DAYS: ['-1', decimal(0, 3_650)],
    BLOCKED_WORDS: 'any',
    CONTENT_VALIDATORS: 'any',
    FEED_STRATEGY: ['MAGIC', strategies],
    FEED_MAINTAINED: ['MAGIC', strategies],
    TIMELINE_ENTRIES: ['all', 'must be one of id, author, text'],
    FANOUT_INLINE_MAX: ['10001', whole(0, 10_000)],
    PAGE_CACHE_MB: ['64MB', decimal(0, 65_536)],
    TIMELINE_DAYS_MAX: ['week', decimal(0, 3_660)],
    TIME_BUCKET_DAYS: ['0', decimal(0.01, 366)],
    SIZED_BUCKET_SIZE: ['4001', whole(1, 4_000)],
    CACHE_SIZE: ['0', whole(1, 4_000)],
    CACHE_AWAY_DAYS: ['0', decimal(0.01, 3_660)],
    ADMIN_HOST: ['localhost:4001', host],
    ADMIN_PORT: ['65536', whole(0, 65_535)],
    DRAIN_SECONDS: ['-1', decimal(0, 600)],
    OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', url],
  }
  const wrong = Object.entries(rows).flatMap(([name, row]) =>
    row === 'any' ? [] : [{ name, value: row[0], expected: row[1] }],
  )

  test('each variable has a row', () => {
    expect(Object.keys(rows).sort()).toEqual([...variableNames].sort())
  })

  test.each(['serve', 'worker', 'verify'])(
    'feedline %s names all wrong variables at once, what each must be, and its value',
    async (command) => {
      const env = Object.fromEntries(wrong.map(({ name, value }) => [name, value]))
      const sentence = await sentenceOf(command, env)
      const problems = sentence.replace(/^invalid configuration: /, '').split('; ')
      for (const { name, value, expected } of wrong) {
        const problem = problems.find((text) => text.startsWith(`${name}: `)) ?? ''
        expect(problem).toContain(`${name}: ${expected}`)
        const seen = value.replace('me:hidden@', '***@')
        if (value !== 'hidden') expect(problem).toContain(`, not "${seen}"`)
      }
      expect(sentence).not.toContain('hidden')
    },
  )

  const taken = createServer()
  afterAll(() => void taken.close())
  const settings = () => ({ MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: database.name })
  const port = () => (taken.address() as AddressInfo).port

  test('production alone names all that it requires', async () => {
    expect(await sentenceOf('serve', { NODE_ENV: 'production' })).toBe(
      'invalid configuration: MONGODB_URI: production requires it; embedded runs one on this machine; ' +
        'AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS: production requires one of them',
    )
  })

  test.each<readonly [what: string, env: () => Variables, sentence: () => string]>([
    [
      'a file of documents that is not there',
      () => ({ ...settings(), TRUSTED_DOCUMENTS: `${folder}/none.json` }),
      () => `TRUSTED_DOCUMENTS: ${folder}/none.json cannot be read (ENOENT)`,
    ],
    [
      'a validator that is not there',
      () => ({ ...settings(), CONTENT_VALIDATORS: './none.mjs' }),
      () => 'CONTENT_VALIDATORS: cannot load "./none.mjs"',
    ],
    [
      'a data folder that is a file',
      () => ({ FEEDLINE_DATA: `${folder}/file/data` }),
      () => `FEEDLINE_DATA: the folder ${folder}/file/data cannot be used (ENOTDIR`,
    ],
    [
      'a used port',
      () => ({ ...settings(), PORT: `${port()}` }),
      () => `PORT: port ${port()} of 127.0.0.1 is in use; set another port`,
    ],
    [
      'a used admin port',
      () => ({ ...settings(), ADMIN_PORT: `${port()}` }),
      () => `ADMIN_PORT: port ${port()} of 127.0.0.1 is in use; set another port`,
    ],
    [
      'an address of another machine',
      () => ({ ...settings(), HOST: '192.0.2.1' }),
      () => 'HOST: "192.0.2.1" is no address of this machine; set one, or 0.0.0.0 for all',
    ],
    [
      'an unknown host name',
      () => ({ ...settings(), HOST: 'none.invalid' }),
      () => 'HOST: the name "none.invalid" is unknown (',
    ],
  ])('feedline serve names the variable of %s', async (_, env, sentence) => {
    await writeFile(join(folder, 'file'), '')
    if (!taken.listening) await once(taken.listen(0, '127.0.0.1'), 'listening')
    expect(await sentenceOf('serve', env())).toContain(sentence())
  })
})
