import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../src/db/client.ts'
import { findMongod } from '../src/dev/mongod/find.ts'
import { causeOf, type Target } from './causes.ts'
import { checkAtRest } from './checker.ts'
import { Client } from './clients.ts'
import type { Closing } from './closing.ts'
import { Cluster, memberCount } from './cluster.ts'
import { plainDisk, smallDisk } from './disk.ts'
import { Journal } from './journal.ts'
import { Model } from './model.ts'
import { type FaultKind, faultKinds, type Options } from './options.ts'
import { Processes } from './processes.ts'
import { Random } from './random.ts'
import { waitForJobs } from './rest.ts'
import type { Stage } from './stage.ts'

/** Free bytes that a folder in memory must have to hold the members' data. */
const memoryBytesMin = 4 * 1024 ** 3
/** How long faults are caused between two checks at rest. */
const phaseMsMax = 180_000
/** Streams of random numbers; clients have those from 0. */
const faultStream = 1_000

/** Runs clients and faults for as long as the options say, each kind at least once, and checks at rest. */
export async function runFaults(
  options: Options,
  closing: Closing,
  log: (line: string) => void,
): Promise<Journal> {
  const target = await openTarget(options, closing, log)
  const journal = new Journal()
  const stage: Stage = {
    world: { model: new Model(), crowd: [], recent: [] },
    journal,
    urls: target.processes.urls,
    seed: options.seed,
  }
  const clients = Array.from({ length: options.clients }, (_, at) => new Client(stage, at))
  const random = new Random(options.seed, faultStream)
  const order = faultsInOrder(options.kinds, random)
  const endMs = performance.now() + options.minutes * 60_000
  const database = await connect(target.cluster.uri, 'bulk')
  closing.add(() => database.close())
  let caused = 0
  const isMissing = () => caused < options.kinds.length
  while (performance.now() < endMs || isMissing()) {
    const phaseEndMs = Math.min(endMs, performance.now() + phaseMsMax)
    const isLastPhase = phaseEndMs === endMs
    const stop = new AbortController()
    journal.resume()
    const running = clients.map((client) => client.run(stop.signal))
    const failed = Promise.race(running)
    while (performance.now() < phaseEndMs || (isLastPhase && isMissing())) {
      await Promise.race([sleep(random.between(1_000, 3_000)), failed])
      await causeFault(order.next().value, target, journal, random, log)
      caused++
    }
    stop.abort()
    await Promise.all(running)
    log('at rest: waiting for jobs')
    await waitForJobs(database.db('faults'), journal)
    log(`at rest: checking ${stage.world.model.posts.size} posts`)
    await checkAtRest(stage.world.model, journal, target.processes)
  }
  journal.logs = await target.processes.errors()
  return journal
}

async function openTarget(
  options: Options,
  closing: Closing,
  log: (line: string) => void,
): Promise<Target> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  const hasRoom = memory !== undefined && memory.bavail * memory.bsize >= memoryBytesMin
  const folder = await mkdtemp(join(hasRoom ? '/dev/shm' : tmpdir(), 'feedline-faults-'))
  closing.add(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const wantsSmall = options.kinds.includes('full-disk')
  const small = wantsSmall ? await smallDisk(folder, memberCount) : undefined
  const disk = small ?? (await plainDisk(folder, memberCount))
  closing.add(disk.close)
  const mongod = await findMongod({
    mongodBinary: process.env.MONGOD_BINARY,
    binFolder: join(import.meta.dirname, '../.feedline/bin'),
    log,
  })
  log(`starting three members of ${mongod.origin} in ${folder}`)
  const cluster = await Cluster.start(mongod.path, disk, closing)
  log('starting two servers and one worker')
  const place = { mongodbUri: cluster.uri, built: options.built, folder }
  const processes = await Processes.start(place, closing)
  return { cluster, processes, disk }
}

async function causeFault(
  kind: FaultKind,
  target: Target,
  journal: Journal,
  random: Random,
  log: (line: string) => void,
): Promise<void> {
  const cause = await causeOf(kind, target, random)
  if (typeof cause === 'string') {
    log(`${kind}: skipped, ${cause}`)
    return
  }
  const window = journal.beginFault(kind, cause.detail)
  log(`${kind}: ${cause.detail}, for ${(cause.lastsMs / 1000).toFixed(1)} s`)
  await cause.begin()
  await sleep(cause.lastsMs)
  await target.cluster.heal()
  await target.processes.heal()
  window.healedMs = performance.now()
}

/** All kinds in random order, or those that were asked for in their order, again and again. */
function* faultsInOrder(kinds: readonly FaultKind[], random: Random): Generator<FaultKind, never> {
  for (;;) yield* kinds === faultKinds ? random.shuffle(kinds) : kinds
}
