import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { BSON } from 'mongodb'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  type BareMongod,
  bareMongod,
  initiate,
  writeCertificate,
  writeKeyFile,
} from '../support/bare-mongod.ts'
import { sentenceOf } from '../support/failed-start.ts'
import { useFolder } from '../support/folder.ts'
import { useDatabase } from '../support/mongo.ts'
import { patient } from '../support/patience.ts'
import { feedline } from '../support/process.ts'

const database = useDatabase()
const { folder } = useFolder('feedline-start-')

/**
 * Answers `hello` as a server of another release: a mongod of one cannot be had for each system.
 */
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
  async function withUser(user: string, command: object): Promise<void> {
    const { MongoClient } = await import('mongodb')
    const client = new MongoClient(`mongodb://${user}:hidden@${at('auth')}/?directConnection=true`)
    await client.db('admin').command(command)
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

  test('a database whose name differs by case from another one is refused with both names', async () => {
    const env = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: database.name.toUpperCase() }
    await database.db.collection('things').insertOne({})
    expect(await sentenceOf('serve', env)).toContain(
      `it has the database "${database.name}", which differs from "${env.MONGODB_DATABASE}" by case alone; set MONGODB_DATABASE=${database.name}, or to another name.`,
    )
  })
})
