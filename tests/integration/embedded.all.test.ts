import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { MongoClient } from 'mongodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MongodError } from '../../packages/mongod/error.ts'
import { findMongod } from '../../packages/mongod/find.ts'
import { type MongodOptions, openMongod } from '../../packages/mongod/open.ts'
import { hasEnded, isAlive } from '../../packages/mongod/pid.ts'
import { pidBehind } from '../../packages/mongod/primary.ts'
import { endMongod, freePort, spawnMongod } from '../../packages/mongod/process.ts'
import { binFolder } from '../support/bin-folder.ts'
import { patient } from '../support/patience.ts'
import { compiledProgram, feedline } from '../support/process.ts'

const endMsMax = patient(30_000)
const program = compiledProgram('open-embedded')

let dataFolder: string
let toStop: { stop(): Promise<void> }[]
let children: ChildProcess[]

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'feedline-embedded-'))
  toStop = []
  children = []
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const opened of toStop) await opened.stop()
  const { pid } = await state().catch(() => ({ pid: undefined }))
  if (pid !== undefined && isAlive(pid)) await endMongod(pid)
  await rm(dataFolder, { recursive: true, force: true })
})

async function open(options: Partial<MongodOptions> = {}) {
  const opened = await openMongod({
    dataFolder,
    binFolder,
    log: () => {},
    ...options,
  })
  toStop.push(opened)
  return opened
}

const state = async (): Promise<{ pid: number; port: number }> =>
  JSON.parse(await readFile(join(dataFolder, 'mongod.json'), 'utf8'))

async function withClient<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 }).connect()
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const notes = (client: MongoClient) => client.db('test').collection<{ _id: string }>('notes')
const write = (uri: string, _id: string) =>
  withClient(uri, (client) => notes(client).insertOne({ _id }, { writeConcern: { w: 'majority' } }))
const written = (uri: string) =>
  withClient(uri, async (client) => (await notes(client).find().toArray()).map(({ _id }) => _id))

/** Another process that opens the same folder. */
async function openElsewhere() {
  const args = [program, dataFolder, binFolder]
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, ...(JSON.parse(line) as { uri: string; joined: boolean }) }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

/** The message of the MongodError that `work` fails with. */
async function complaint(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(MongodError)
  return (error as MongodError).message
}

describe('one process', () => {
  test('the embedded mongod is a primary that runs transactions', async () => {
    const { uri, joined } = await open()
    expect(joined).toBe(false)
    await withClient(uri, async (client) => {
      await client.withSession((session) =>
        session.withTransaction(() => notes(client).insertOne({ _id: 'a' }, { session })),
      )
    })
    expect(await written(uri)).toEqual(['a'])
  })

  test('the embedded mongod is closed to other users of the host, and accepts no compressed messages', async () => {
    const folder = join(dataFolder, 'new')
    const { uri } = await open({ dataFolder: folder })
    const modeOf = async (...path: string[]) => (await stat(join(folder, ...path))).mode & 0o777
    expect([await modeOf(), await modeOf('db')]).toEqual([0o700, 0o700])
    expect([await modeOf('mongod.json'), await modeOf('mongod.log')]).toEqual([0o600, 0o600])
    await withClient(`${uri}&compressors=zlib`, async (client) => {
      const hello = await client.db('admin').command({ hello: 1, compression: ['zlib', 'snappy'] })
      expect(hello.compression).toBeUndefined()
    })
  })

  test('the embedded mongod opens its data after a stop on another port', async () => {
    const first = await open()
    await write(first.uri, 'a')
    const { pid } = await state()
    await first.stop()
    expect(isAlive(pid)).toBe(false)
    await expect(state()).rejects.toThrow('ENOENT')
    const second = await open()
    expect(second.uri).not.toBe(first.uri)
    expect(await written(second.uri)).toEqual(['a'])
    await write(second.uri, 'b')
  })

  test('the embedded mongod has every acknowledged write after it was killed', async () => {
    const first = await open()
    await write(first.uri, 'a')
    const { pid } = await state()
    process.kill(pid, 'SIGKILL')
    expect(await hasEnded(pid, endMsMax)).toBe(true)
    const second = await open()
    expect(second.joined).toBe(false)
    expect(await written(second.uri)).toEqual(['a'])
    await first.stop()
    expect(await written(second.uri)).toEqual(['a'])
  })
})

describe('several processes', () => {
  test('the second process joins the embedded mongod, and leaves it running for the first', async () => {
    const first = await open()
    const second = await openElsewhere()
    expect(second).toMatchObject({ uri: first.uri, joined: true })
    await end(second.child, 'SIGINT')
    await write(first.uri, 'a')
    const { pid } = await state()
    await first.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('the embedded mongod keeps running for others when the process that started it leaves', async () => {
    const starter = await openElsewhere()
    const second = await open()
    expect(second.joined).toBe(true)
    await end(starter.child, 'SIGTERM')
    await write(second.uri, 'a')
    const { pid } = await state()
    await second.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('of several processes that open a data folder at once, one starts mongod and the others join', async () => {
    const here = Promise.all([open(), open()])
    const elsewhere = Promise.all([openElsewhere(), openElsewhere()])
    const all = [...(await here), ...(await elsewhere)]
    expect(new Set(all.map(({ uri }) => uri)).size).toBe(1)
    expect(all.filter(({ joined }) => !joined)).toHaveLength(1)
  })

  test('a process takes over and later ends the mongod of a killed process', async () => {
    const killed = await openElsewhere()
    await write(killed.uri, 'a')
    await end(killed.child, 'SIGKILL')
    const { pid } = await state()
    expect(isAlive(pid)).toBe(true)
    const heir = await open()
    expect(heir).toMatchObject({ uri: killed.uri, joined: false })
    expect(await written(heir.uri)).toEqual(['a'])
    await heir.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('the embedded mongod ends with its last process, and the next process opens at once', async () => {
    const other = await openElsewhere()
    await write(other.uri, 'a')
    const { pid } = await state()
    await end(other.child, 'SIGTERM')
    const next = await open()
    expect(next.joined).toBe(false)
    expect(await written(next.uri)).toEqual(['a'])
    expect(isAlive(pid)).toBe(false)
  })

  test('a Ctrl-C to the process group leaves time for a last write to the embedded mongod', async () => {
    const { child } = await openElsewhere()
    const exited = once(child, 'exit')
    process.kill(-(child.pid ?? Number.NaN), 'SIGINT')
    expect(await exited).toEqual([0, null])
    const { uri } = await open()
    const last = await withClient(uri, (client) => client.db('test').collection('last').findOne())
    expect(last).toMatchObject({ words: 'bye' })
  })
})

describe('a full disk', () => {
  const small = '/tmp/feedline-small-disk'
  const mounted = async () => {
    await mkdir(small, { recursive: true })
    return promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'none', small]).then(
      () => true,
      () => false,
    )
  }

  test(
    'a server names the full disk on which its embedded mongod ended, and so does the next start',
    async (context) => {
      // A file system of a fixed size needs the rights of root.
      context.skip(!(await mounted()), 'this user may not mount a small disk')
      try {
        const { path } = await findMongod({ binFolder, log: () => {} })
        const PATH = `${dirname(path)}:${process.env.PATH}`
        const env = { FEEDLINE_DATA: join(small, 'data'), PORT: '0', PATH }
        const server = feedline(['serve'], env)
        const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
        const { port } = JSON.parse(await readFile(join(small, 'data/mongod.json'), 'utf8'))
        await post(url)
        await promisify(execFile)('dd', [
          'if=/dev/zero',
          `of=${join(small, 'fill')}`,
          'bs=64k',
        ]).catch(() => {})
        // Makes mongod write its pages now, not within a minute.
        await withClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, (client) =>
          client.db('admin').command({ fsync: 1 }),
        ).catch(() => {})
        const refused = await post(url)
        expect(refused).not.toContain('too many writes')
        expect(await server.ended).toBe(1)
        const full = `the disk of ${join(small, 'data')} is full; free some space and start again.`
        expect(server.out()).toContain(`"level":60`)
        expect(server.out()).toContain(`The embedded mongod ended: ${full}`)
        const next = feedline(['serve'], env)
        expect(await next.ended).toBe(1)
        expect(next.err()).toContain(full)
      } finally {
        await promisify(execFile)('umount', ['-l', small])
      }
    },
    patient(240_000),
  )

  /** The answers to writes of one viewer at once, or that the server is gone. */
  async function post(url: string): Promise<string> {
    const body = JSON.stringify({
      query: 'mutation { createUser(input: { name: "A" }) { changed } }',
    })
    const answers = Array.from({ length: 5 }, () =>
      fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Dev alice' },
        body,
      }).then(
        (answer) => answer.text(),
        () => 'gone',
      ),
    )
    return (await Promise.all(answers)).join()
  }
})

describe('error messages of the embedded mongod', () => {
  test('a data folder in use by another mongod is reported with its path', async () => {
    const first = await open()
    await first.stop()
    const { path } = await findMongod({ binFolder, log: () => {} })
    const port = await freePort()
    const foreign = await spawnMongod(path, dataFolder, port, [])
    toStop.push({ stop: () => endMongod(foreign.pid) })
    // It has taken the folder by the time it answers.
    await expect.poll(() => pidBehind(port)).toBe(foreign.pid)
    const message = await complaint(open())
    expect(message).toContain(`The data folder ${dataFolder} is in use by another mongod`)
    expect(isAlive(foreign.pid)).toBe(true)
  })

  test('the embedded mongod starts again if its port is in use, and reports it after the last try', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const message = await complaint(open({ extraArgs: ['--port', String(port)] }))
    server.close()
    expect(message).toContain('mongod did not start: Error setting up listener: Address already in')
    expect(await readdir(dataFolder)).toContain('mongod.log.old')
  })

  test('an argument that mongod refuses is reported with mongod’s message', async () => {
    const message = await complaint(open({ extraArgs: ['--nope'] }))
    expect(message).toContain("unrecognised option '--nope'")
  })

  test('data that mongod cannot read is reported with mongod’s message', async () => {
    const first = await open()
    await first.stop()
    await writeFile(join(dataFolder, 'db/storage.bson'), 'x')
    const message = await complaint(open())
    expect(message).toContain('Unable to read the storage engine metadata file')
  })
})
