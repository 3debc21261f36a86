import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openMongod } from '../../packages/mongod/open.ts'
import { ensurePrimary, replicaSetName } from '../../packages/mongod/primary.ts'
import { connect } from '../../src/db/client.ts'
import { lifetimeArguments } from '../../src/db/lifetime.ts'
import { shapesFolder } from '../explained/statements/shapes.ts'
import { binFolder } from './bin-folder.ts'
import { compile } from './compile.ts'
import { factsFile } from './facts.ts'
import { patient } from './patience.ts'
import { lawSeed } from './seed.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The run's MongoDB: one replica set for all test files. */
    mongoUri: string
    /** Begins the names of this run's databases. */
    databasePrefix: string
  }
}

interface RunMongo {
  readonly uri: string
  readonly description: string
  stop(): Promise<void>
}

const databasePrefix = `test_${process.pid}_`
const failpoints = ['--setParameter', 'enableTestCommands=1']
const containerImage = 'mongo:8'
const containerPort = 27_017
const primaryMsMax = patient(60_000)
/** The least free bytes of a folder in memory for the databases of the tests. */
const memoryBytesMin = 4 * 1024 ** 3

/** What the projects of a run share. Each of them loads its own copy of this file. */
interface Run {
  readonly mongo: Promise<RunMongo>
  /** The command line and the other programs, unless only recorded statements are explained. */
  compiled?: Promise<void>
  /** How many projects use the MongoDB. */
  projects: number
}

const shared = globalThis as { feedlineTestRun?: Run }

/**
 * Starts the MongoDB of a test run and prints its description, unless another project has.
 * @returns the function that stops it, after the last project.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.feedlineTestRun ??= {
    mongo: runMongo(),
    projects: 0,
  }
  const run = shared.feedlineTestRun
  run.projects++
  if (project.name !== 'explained') run.compiled ??= clearResults().then(compile)
  const [mongo] = await Promise.all([run.mongo, run.compiled])
  if (run.projects === 1) {
    const runs = process.env.FEEDLINE_RUNS ? ` FEEDLINE_RUNS=${process.env.FEEDLINE_RUNS}` : ''
    console.log(`MongoDB for the tests: ${mongo.description}`)
    console.log(`FEEDLINE_SEED=${lawSeed().seed}${runs} replays this run`)
  }
  project.provide('mongoUri', mongo.uri)
  project.provide('databasePrefix', databasePrefix)
  return async () => {
    if (--run.projects > 0) return
    delete shared.feedlineTestRun
    await mongo.stop()
  }
}

/** Forgets the recorded commands and the facts of the run before. */
async function clearResults(): Promise<void> {
  await rm(shapesFolder, { recursive: true, force: true })
  await mkdir(dirname(factsFile), { recursive: true })
  await rm(factsFile, { force: true })
}

async function runMongo(): Promise<RunMongo> {
  const uri = process.env.TEST_MONGODB_URI
  if (uri) return { uri, description: 'TEST_MONGODB_URI', stop: () => dropDatabases(uri) }
  return process.env.TEST_MONGO === 'testcontainers' ? container() : embedded()
}

/** Drops what the test files of this run have left on a MongoDB that goes on. */
async function dropDatabases(uri: string): Promise<void> {
  const client = await connect(uri, 'bulk')
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true })
  const own = databases.filter(({ name }) => name.startsWith(databasePrefix))
  for (const { name } of own) await client.db(name).dropDatabase()
  await client.close()
}

/** A direct connection, since the member's own address is unreachable outside its container. */
async function container(): Promise<RunMongo> {
  const { GenericContainer } = await import('testcontainers')
  const started = await new GenericContainer(containerImage)
    .withCommand([
      'mongod',
      '--replSet',
      replicaSetName,
      '--bind_ip_all',
      ...failpoints,
      ...lifetimeArguments,
    ])
    .withExposedPorts(containerPort)
    .start()
  const address = `${started.getHost()}:${started.getMappedPort(containerPort)}`
  await ensurePrimary(address, { withinMs: primaryMsMax, self: `127.0.0.1:${containerPort}` })
  return {
    uri: `mongodb://${address}/?directConnection=true`,
    description: `a container of ${containerImage}`,
    stop: async () => void (await started.stop()),
  }
}

/**
 * Lets a majority acknowledge writes before they are in its journal, because this mongod is never
 * killed. Writes take half the time. Tests that kill a mongod, or elect another primary, start one
 * of their own.
 */
async function acknowledgeFromMemory(uri: string): Promise<void> {
  const client = await connect(uri, 'bulk')
  const admin = client.db('admin')
  const { config } = await admin.command({ replSetGetConfig: 1 })
  const version = config.version + 1
  await admin.command({
    replSetReconfig: { ...config, version, writeConcernMajorityJournalDefault: false },
  })
  await client.close()
}

/** A folder in memory, if possible. It halves the time to create a database with its indexes. */
async function fastestFolder(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  const hasRoom = memory !== undefined && memory.bavail * memory.bsize >= memoryBytesMin
  return hasRoom ? '/dev/shm' : tmpdir()
}

async function embedded(): Promise<RunMongo> {
  const dataFolder = await mkdtemp(join(await fastestFolder(), 'feedline-test-'))
  const mongod = await openMongod({
    dataFolder,
    binFolder,
    log: (line) => console.log(line),
    extraArgs: failpoints,
  })
  await acknowledgeFromMemory(mongod.uri)
  return {
    uri: mongod.uri,
    description: mongod.description,
    stop: async () => {
      await mongod.stop()
      await rm(dataFolder, { recursive: true, force: true })
    },
  }
}
