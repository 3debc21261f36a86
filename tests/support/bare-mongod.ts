import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Document, MongoClient, type MongoClientOptions } from 'mongodb'
import { findMongod } from '../../packages/mongod/find.ts'
import { freePort } from '../../packages/mongod/process.ts'
import { binFolder } from './bin-folder.ts'

/** A mongod with options of a test. Disposing of it kills it. */
export interface BareMongod extends AsyncDisposable {
  readonly port: number
  /** Runs a command on `admin`, on a direct connection to this member. */
  readonly command: (command: Document) => Promise<Document>
}

const answerMsMax = 60_000

/**
 * Starts a mongod, and waits until it answers.
 * @param folder for its data, its log and what its options name.
 * @param options of the client of `command`.
 */
export async function bareMongod(
  folder: string,
  args: readonly string[],
  options: MongoClientOptions = {},
): Promise<BareMongod> {
  const { path } = await findMongod({ binFolder, log: () => {} })
  const port = await freePort()
  const dbpath = join(folder, `${port}`)
  await mkdir(dbpath, { recursive: true })
  const common = ['--dbpath', dbpath, '--port', `${port}`, '--bind_ip', '127.0.0.1']
  const small = ['--nounixsocket', '--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64']
  const child = spawn(path, [...common, ...small, ...args], { stdio: 'ignore' })
  const command = async (sent: Document) => {
    const client = new MongoClient(`mongodb://localhost:${port}/`, {
      directConnection: true,
      serverSelectionTimeoutMS: 2_000,
      ...options,
    })
    try {
      return await client.db('admin').command(sent)
    } finally {
      await client.close()
    }
  }
  const giveUpAt = performance.now() + answerMsMax
  while (!(await command({ hello: 1 }).catch(() => undefined))) {
    if (performance.now() > giveUpAt || child.exitCode !== null) {
      throw new Error(`mongod ${args.join(' ')} does not answer`)
    }
    await sleep(100)
  }
  const end = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { port, command, [Symbol.asyncDispose]: end }
}

/** Makes a mongod the primary of a set of its own, and waits until it is. */
export async function initiate({ command, port }: BareMongod, name: string): Promise<void> {
  await command({
    replSetInitiate: { _id: name, members: [{ _id: 0, host: `localhost:${port}` }] },
  })
  while (!(await command({ hello: 1 })).isWritablePrimary) await sleep(50)
}

/**
 * Writes a key and a self-made certificate of localhost into one file, and the certificate into
 * another.
 */
export async function writeCertificate(folder: string) {
  const [key, authority, both] = ['key', 'cert', 'both'].map((name) => join(folder, `${name}.pem`))
  const args = [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', `${key}`, '-out', `${authority}`],
  ]
  await promisify(execFile)('openssl', args)
  await writeFile(`${both}`, `${await readFile(`${key}`)}${await readFile(`${authority}`)}`)
  return { authority: `${authority}`, both: `${both}` }
}

/** Writes a key by which the members of a set trust each other, which access control needs. */
export async function writeKeyFile(folder: string): Promise<string> {
  const path = join(folder, 'member.key')
  await writeFile(path, 'feedline'.repeat(8))
  await chmod(path, 0o400)
  return path
}
