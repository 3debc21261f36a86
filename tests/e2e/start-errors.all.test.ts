import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BSON } from 'mongodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { schemaVersion } from '../../src/db/schema-version.ts'
import { variableNames } from '../../src/environment.ts'
import {
  type BareMongod,
  bareMongod,
  initiate,
  writeCertificate,
  writeKeyFile,
} from '../support/bare-mongod.ts'
import { useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { feedline } from '../support/process.ts'

const database = useDatabase()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-start-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Variables = Readonly<Record<string, string>>

/** The only line of a command that fails, without its beginning. */
async function sentenceOf(command: string, env: Variables): Promise<string> {
  const failed = feedline([command], { PORT: '0', ...env })
  expect(await failed.ended, `${command}: ${failed.out()}${failed.err()}`).toBe(1)
  expect(failed.err()).toMatch(/^feedline: [^\n]+\n$/)
  return failed.err().slice('feedline: '.length, -1)
}

describe('a wrong variable', () => {
  const whole = (min: number, max: number) => `must be a whole number from ${min} to ${max}`
  const decimal = (min: number, max: number) => `must be a number from ${min} to ${max}`
  const strategies = 'must be one of FANOUT_ON_READ, '
  const url = 'must be an http or https URL'
  const mongodb = 'must start with mongodb:// or mongodb+srv://, or be embedded'
  const host = 'must be an address or a host name'

  /** A wrong value of each variable, and what it must be. 'any': each text may be right, or is tried below. */
  const rows: Readonly<Record<string, readonly [value: string, expected: string] | 'any'>> = {
    NODE_ENV: ['prod', 'must be one of development, test, production'],
    HOST: ['http://0.0.0.0', host],
    PORT: ['80.5', whole(0, 65_535)],
    CORS_ORIGINS: ['https://a.example/path', 'must be an origin'],
    TRUSTED_DOCUMENTS: 'any',
    TRUSTED_PROXIES: ['10.0.0.0/33', 'must be an address or a network'],
    RATE_LIMIT_COST: ['9999', 'must be 0, or a whole number from 10000 to 1000000000'],
    RATE_LIMIT_MUTATIONS: ['1.5', 'must be 0, or a whole number from 1 to 1000000000'],
    RATE_LIMIT_STORE: ['redis', 'must be one of memory, mongodb'],
    REQUEST_TIMEOUT_SECONDS: ['0', decimal(0.1, 300)],
    LOG_LEVEL: ['verbose', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    MONGODB_URI: ['http://me:hidden@h', mongodb],
    MONGODB_DATABASE: ['admin', "must not be one of MongoDB's own databases"],
    FEEDLINE_DATA: 'any',
    FOLLOWING: ['both', 'must be one of collection, reverse-index'],
    OVERFLOW_THRESHOLD: ['0', whole(1, 10_000)],
    DRIFT_SAMPLE: ['2', decimal(0, 1)],
    AUTH_JWT_SECRET: ['hidden', 'must be at least 32 characters, and has 6'],
    AUTH_JWKS_URL: ['keys.example', url],
    AUTH_ISSUER: 'any',
    AUTH_AUDIENCE: 'any',
    RESERVED_HANDLES: 'any',
    BLOCKED_WORDS: 'any',
    CONTENT_VALIDATORS: 'any',
    FEED_STRATEGY: ['MAGIC', strategies],
    FEED_MAINTAINED: ['MAGIC', strategies],
    TIMELINE_ENTRIES: ['all', 'must be one of id, author, text'],
    FANOUT_INLINE_MAX: ['10001', whole(0, 10_000)],
    PAGE_CACHE_MB: ['64MB', decimal(0, 65_536)],
    INBOX_ENTRIES_MAX: ['-1', whole(0, 1e9)],
    INBOX_DAYS_MAX: ['week', decimal(0, 3_660)],
    TIMELINE_AWAY_DAYS: ['0.5', 'must be 0, or a number from 1 to 3660'],
    TIME_BUCKET_DAYS: ['0', decimal(0.01, 366)],
    TIME_BUCKET_ENTRIES_MAX: ['all', whole(0, 1e9)],
    TIME_BUCKET_DAYS_MAX: ['-1', decimal(0, 3_660)],
    SIZED_BUCKET_SIZE: ['4001', whole(1, 4_000)],
    SIZED_BUCKET_ENTRIES_MAX: ['all', whole(0, 1e9)],
    SIZED_BUCKET_DAYS_MAX: ['-1', decimal(0, 3_660)],
    CACHE_SIZE: ['0', whole(1, 4_000)],
    CACHE_AWAY_DAYS: ['0', decimal(0.01, 3_660)],
    HYBRID_THRESHOLD: ['0', whole(1, 1e9)],
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
        if (name !== 'AUTH_JWT_SECRET') expect(problem).toContain(`, not "${seen}"`)
      }
      expect(sentence).not.toContain('hidden')
    },
  )

  test('a variable that was removed is named beside the wrong ones, with the way back', async () => {
    const env = { TIMELINES_URI: 'mongodb://timelines-1/?replicaSet=t', PORT: '80.5' }
    for (const command of ['serve', 'worker', 'verify'])
      expect(await sentenceOf(command, env)).toBe(
        'invalid configuration: PORT: must be a whole number from 0 to 65535, not "80.5"; ' +
          'TIMELINES_URI: this release stores timelines in the database alone; run "feedline timelines move" of the previous release without TIMELINES_URI, and unset it',
      )
  })

  test.each(['EMBEDDED_MONGODB', 'AUTH_DEV', 'AUTH_ALGORITHMS'])(
    'a removed %s is refused, because ignored it would open what it closed',
    async (name) => {
      expect(await sentenceOf('serve', { [name]: 'false' })).toMatch(
        new RegExp(`^invalid configuration: ${name}: .*; .*unset ${name}$`),
      )
    },
  )

  test('a server and a worker warn of each other removed variable, with what holds instead', async () => {
    const old = { STOP_SECONDS: '20', LIKES_THRESHOLD: '5', SLOW_REQUEST_MS: 'wrong' }
    for (const command of ['serve', 'worker']) {
      const running = feedline([command], { ...settings(), ...old, PORT: '0' })
      await running.says(/metrics and probes/)
      const lines = running
        .out()
        .split('\n')
        .filter((line) => line.includes('is ignored'))
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        {
          level: 40,
          msg: 'SLOW_REQUEST_MS: requests from 1 s on are logged as slow. The variable is ignored',
        },
        {
          msg: expect.stringMatching(
            /^STOP_SECONDS: after DRAIN_SECONDS, a stop takes at most 15 s/,
          ),
        },
        { msg: 'LIKES_THRESHOLD: OVERFLOW_THRESHOLD sets it. The variable is ignored' },
      ])
      running.child.kill('SIGTERM')
      expect(await running.ended).toBe(0)
    }
  })

  const taken = createServer()
  afterAll(() => void taken.close())
  const settings = () => ({ MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: database.name })
  const port = () => (taken.address() as AddressInfo).port

  test('production alone names all that it requires', async () => {
    expect(await sentenceOf('serve', { NODE_ENV: 'production' })).toBe(
      'invalid configuration: MONGODB_URI: production requires it; embedded runs one on this machine; ' +
        'AUTH_JWT_SECRET or AUTH_JWKS_URL: production requires one of them',
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

/** Answers `hello` as a server of another release: a mongod of one cannot be had for each system. */
function oldServer(maxWireVersion: number): Server {
  const hello = { ok: 1, ismaster: true, minWireVersion: 0, maxWireVersion, setName: 'rs' }
  return createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (request) => {
      const { port } = socket.address() as AddressInfo
      const host = `127.0.0.1:${port}`
      const body = BSON.serialize({ ...hello, hosts: [host], me: host, primary: host })
      const head = Buffer.alloc(36)
      head.writeInt32LE(head.length + body.length, 0)
      head.writeInt32LE(request.readInt32LE(4), 8)
      head.writeInt32LE(1, 12)
      head.writeInt32LE(1, 32)
      socket.write(Buffer.concat([head, body]))
    })
  })
}

describe('a database that cannot be used', () => {
  const servers = {
    old: oldServer(13),
    older: oldServer(6),
    http: createHttpServer((_, response) => void response.end('hello')),
    mail: createServer(
      (socket) => void socket.on('error', () => {}).write('220 mail.example ESMTP\r\n'),
    ),
    silent: createServer((socket) => void socket.on('error', () => {})),
  }
  let mongods: Record<'standalone' | 'ghost' | 'secondary' | 'auth' | 'tls', BareMongod>
  let authority = ''
  const at = (name: keyof typeof mongods | keyof typeof servers) =>
    name in mongods
      ? `localhost:${mongods[name as keyof typeof mongods].port}`
      : `127.0.0.1:${(servers[name as keyof typeof servers].address() as AddressInfo).port}`

  beforeAll(async () => {
    const certificate = await writeCertificate(folder)
    authority = certificate.authority
    const keyFile = await writeKeyFile(folder)
    const tls = { tls: true, tlsCAFile: authority, tlsCertificateKeyFile: certificate.both }
    const [standalone, ghost, secondary, auth, secure] = await Promise.all([
      bareMongod(folder, []),
      bareMongod(folder, ['--replSet', 'rs']),
      bareMongod(folder, ['--replSet', 'rs']),
      bareMongod(folder, ['--replSet', 'rs', '--auth', '--keyFile', keyFile]),
      bareMongod(
        folder,
        [
          ...['--replSet', 'rs', '--tlsMode', 'requireTLS', '--tlsCAFile', authority],
          ...['--tlsCertificateKeyFile', certificate.both],
        ],
        tls,
      ),
      ...Object.values(servers).map((server) => once(server.listen(0, '127.0.0.1'), 'listening')),
    ])
    mongods = { standalone, ghost, secondary, auth, tls: secure }
    await Promise.all([initiate(secondary, 'rs'), initiate(auth, 'rs')])
    await secondary.command({ replSetStepDown: 3_600, secondaryCatchUpPeriodSecs: 0, force: true })
    // Without any user, MongoDB lets this host create the first one.
    const root = { createUser: 'root', pwd: 'hidden', roles: ['root'] }
    await auth.command(root)
    await withUser('root', { createUser: 'reader', pwd: 'hidden', roles: [role('read')] })
    await withUser('root', { createUser: 'writer', pwd: 'hidden', roles: [role('readWrite')] })
  })
  afterAll(async () => {
    await Promise.all(Object.values(mongods).map((mongod) => mongod[Symbol.asyncDispose]()))
    for (const server of Object.values(servers)) server.close()
  })

  const role = (name: string) => ({ role: name, db: 'mine' })
  async function withUser(user: string, command: object, database = 'admin'): Promise<void> {
    const { MongoClient } = await import('mongodb')
    const client = new MongoClient(`mongodb://${user}:hidden@${at('auth')}/?directConnection=true`)
    await client.db(database).command(command)
    await client.close()
  }

  const needsSet =
    'is a mongod without a replica set, which transactions need; start it with --replSet NAME and run rs.initiate() in mongosh.'
  const notInitiated = 'is not initiated; run rs.initiate() in mongosh.'
  type Row = readonly [what: string, uri: () => string, reason: () => string]
  const rows: readonly Row[] = [
    ['a standalone mongod', () => `${at('standalone')}/`, () => `${at('standalone')} ${needsSet}`],
    [
      'a standalone mongod under the name of a set',
      () => `${at('standalone')}/?replicaSet=rs`,
      () => `${at('standalone')} ${needsSet}`,
    ],
    [
      'a set that is not initiated',
      () => `${at('ghost')}/`,
      () => `the replica set of ${at('ghost')} ${notInitiated}`,
    ],
    [
      'a set that is not initiated, on a direct connection',
      () => `${at('ghost')}/?directConnection=true`,
      () => `the replica set of ${at('ghost')} ${notInitiated}`,
    ],
    [
      'the wrong name of a set',
      () => `${at('auth')}/?replicaSet=other`,
      () =>
        `${at('auth')} is a member of the replica set "rs", not of "other"; write replicaSet=rs.`,
    ],
    [
      'a set without a primary',
      () => `${at('secondary')}/`,
      () =>
        `${at('secondary')} is not the primary; name all members of the replica set, and see rs.status() in mongosh.`,
    ],
    [
      'a secondary, on a direct connection',
      () => `${at('secondary')}/?directConnection=true`,
      () => `${at('secondary')} is not the primary; name all members`,
    ],
    [
      'a wrong password',
      () => `reader:wrong-hidden@${at('auth')}/`,
      () => 'MongoDB knows no user "reader" with this password in the database "admin"; correct',
    ],
    [
      'a user of another database, which the path of the URI names',
      () => `reader:hidden@${at('auth')}/mine`,
      () =>
        'MongoDB knows no user "reader" with this password in the database "mine"; correct them, or name the database of the user with authSource=NAME.',
    ],
    [
      'no user',
      () => `${at('auth')}/`,
      () => 'MongoDB asks for a user; write mongodb://USER:PASSWORD@HOST/?authSource=admin.',
    ],
    [
      'a user without rights on the database',
      () => `writer:hidden@${at('auth')}/other?authSource=admin`,
      () => 'the user "writer" may not use the database "other" as Feedline does; grant the user',
    ],
    [
      'no TLS where it is required',
      () => `${at('tls')}/`,
      () => `${at('tls')} closes a connection without TLS; add tls=true, or correct the port.`,
    ],
    [
      'TLS where there is none',
      () => `${at('ghost')}/?tls=true`,
      () => `${at('ghost')} does not speak TLS; remove tls=true.`,
    ],
    [
      'a certificate of an unknown authority',
      () => `${at('tls')}/?tls=true`,
      () =>
        `the certificate of ${at('tls')} is not trusted (self-signed certificate); add tlsCAFile=PATH with the certificate of its authority.`,
    ],
    [
      'a certificate of another host',
      () => `127.0.0.1:${mongods.tls.port}/?tls=true&tlsCAFile=${authority}`,
      () => `the certificate of 127.0.0.1:${mongods.tls.port} is for another host name (`,
    ],
    [
      'no certificate of the client',
      () => `${at('tls')}/?tls=true&tlsCAFile=${authority}`,
      () =>
        `${at('tls')} closes the connection, as one that asks for a certificate of this client; add tlsCertificateKeyFile=PATH, or see its log.`,
    ],
    [
      'a file of TLS that is not there',
      () => `${at('tls')}/?tls=true&tlsCAFile=${folder}/none.pem`,
      () =>
        `the file "${folder}/none.pem" of its TLS options cannot be read (ENOENT); correct the path.`,
    ],
    [
      'an unknown host',
      () => 'none.invalid/',
      () => 'the name of the host none.invalid:27017 is unknown (',
    ],
    [
      'a wrong port',
      () => '127.0.0.1:9/',
      () => 'nothing listens on 127.0.0.1:9; start mongod there, or correct host and port.',
    ],
    [
      'the port of another service',
      () => `${at('http')}/`,
      () => `${at('http')} closes a connection without TLS; add tls=true, or correct the port.`,
    ],
    [
      'the port of a service that greets',
      () => `${at('mail')}/`,
      () => `${at('mail')} does not answer in time; correct host and port, or check the network`,
    ],
    [
      'a host that does not answer',
      () => `${at('silent')}/`,
      () => `${at('silent')} does not answer in time; correct host and port, or check the network`,
    ],
    [
      'MongoDB 5.0',
      () => `${at('old')}/`,
      () => `${at('old')} is MongoDB 5.0; upgrade it to 6.0 or newer.`,
    ],
    [
      'MongoDB 3.6, which the driver refuses too',
      () => `${at('older')}/`,
      () => `${at('older')} is MongoDB 3.6; upgrade it to 6.0 or newer.`,
    ],
  ]

  const withoutUser = (uri: string) => `mongodb://${uri.replace(/^.*@/, '***@')}`.slice(0, 100)

  /** Each third row also with another command, because they open a database by the same code. */
  const cases = rows.map(
    (row, at) => [...row, at % 3 === 0 ? ['serve', 'verify'] : ['serve']] as const,
  )

  test.concurrent.each(cases)(
    'the start says in one sentence what is wrong with %s',
    async (_, uri, reason, commands) => {
      const env = { MONGODB_URI: `mongodb://${uri()}` }
      const sentences = await Promise.all(commands.map((command) => sentenceOf(command, env)))
      for (const sentence of sentences) {
        expect(sentence).toContain(`MONGODB_URI: "${withoutUser(uri())}`)
        expect(sentence).toContain(`cannot be used: ${reason()}`)
        expect(sentence).not.toContain('hidden')
      }
    },
    patient(120_000),
  )

  test('feedline serve and feedline worker say that a user may only read', async () => {
    const env = { MONGODB_URI: `mongodb://reader:hidden@${at('auth')}/mine?authSource=admin` }
    for (const command of ['serve', 'worker']) {
      expect(await sentenceOf(command, env)).toContain(
        'cannot be used: the user "reader" may not use the database "mine" as Feedline does; grant the user its role readWrite.',
      )
    }
  })

  test('a user with readWrite on the database of the path is all that a server needs', async () => {
    const env = { MONGODB_URI: `mongodb://writer:hidden@${at('auth')}/mine?authSource=admin` }
    const server = feedline(['serve'], { PORT: '0', ...env })
    await server.says(/GraphQL: http/)
    await server.says(/database: MongoDB at [^"]*, database mine"/)
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(server.out()).not.toContain('hidden')
  })

  test('a new database of the path does not hide the data of a release that did not read the path', async () => {
    const env = { MONGODB_URI: `mongodb://root:hidden@${at('auth')}/fresh?authSource=admin` }
    const stored = { _id: 'schema', version: schemaVersion, following: 'collection' }
    await withUser('root', { insert: 'meta', documents: [stored] }, 'feedline')
    for (const command of ['migrate', 'serve'])
      expect(await sentenceOf(command, env)).toBe(
        'invalid configuration: MONGODB_URI: the database "fresh" in its path is new, and "feedline" has the data of a release that did not read the path; set MONGODB_DATABASE=feedline to use them, or MONGODB_DATABASE=fresh to begin a new database',
      )
    for (const name of ['feedline', 'fresh']) {
      const server = feedline(['serve'], { PORT: '0', ...env, MONGODB_DATABASE: name })
      await server.says(/GraphQL: http/)
      server.child.kill('SIGTERM')
      expect(await server.ended).toBe(0)
    }
    const again = feedline(['serve'], { PORT: '0', ...env })
    await again.says(/GraphQL: http/)
    expect(again.out()).toContain('database fresh"')
    again.child.kill('SIGTERM')
    expect(await again.ended).toBe(0)
  })

  test('a database whose name differs by case from another one is refused with both names', async () => {
    const env = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: database.name.toUpperCase() }
    await database.db.collection('things').insertOne({})
    expect(await sentenceOf('serve', env)).toContain(
      `it has the database "${database.name}", which differs from "${env.MONGODB_DATABASE}" by case alone; set MONGODB_DATABASE=${database.name}, or to another name.`,
    )
  })

  test('a database with timelines on a cluster of their own is refused with the way back', async () => {
    const env = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: `${database.name}-moved` }
    const meta = database.client.db(env.MONGODB_DATABASE).collection<{ _id: string }>('meta')
    await meta.insertOne({ _id: 'timelines', hosts: ['timelines-1:27017'] } as never)
    // After a migration, the release that knows the way back would no longer start.
    for (const command of ['serve', 'worker', 'migrate'])
      expect(await sentenceOf(command, env)).toBe(
        'invalid configuration: TIMELINES_URI: this database stores its timelines on a cluster of their own, which this release does not read; run "feedline timelines move" of the previous release without TIMELINES_URI',
      )
    expect(await meta.countDocuments()).toBe(1)
    await meta.drop()
  })
})
