import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findMongod } from '../packages/mongod/find.ts'
import { connect } from '../src/db/client.ts'
import { checkAtRest } from './check-at-rest.ts'
import type { Cleanup } from './cleanup.ts'
import { Client } from './client.ts'
import { Cluster, memberCount } from './cluster.ts'
import { createPlainDisk, createSmallDisk } from './disk.ts'
import { type FaultTarget, planFault } from './fault-actions.ts'
import { Journal } from './journal.ts'
import { Model } from './model.ts'
import { type FaultKind, faultKinds, type Options } from './options.ts'
import { Processes } from './processes.ts'
import { Random } from './random.ts'
import type { Simulation } from './simulation.ts'
import { waitForJobs } from './wait-for-jobs.ts'

/** The free space that /dev/shm needs for the members' data, in bytes. */
const memoryBytesMin = 4 * 1024 ** 3
/** The maximum time between two checks at rest, in milliseconds. */
const phaseMsMax = 180_000
/** The stream of random numbers for faults. The streams of clients are numbered from 0. */
const faultStream = 1_000

/**
 * Runs clients and faults for the minutes of the options, and checks the data at rest.
 * Causes each kind of fault at least once, even if the minutes are over.
 */
export async function runFaults(
  options: Options,
  cleanup: Cleanup,
  log: (line: string) => void,
): Promise<Journal> {
  const target = await startTarget(options, cleanup, log)
  const journal = new Journal()
  const simulation: Simulation = {
    world: { model: new Model(), activeUsers: [], recentPosts: [] },
    journal,
    urls: target.processes.urls,
    seed: options.seed,
  }
  const clients = Array.from({ length: options.clients }, (_, at) => new Client(simulation, at))
  const random = new Random(options.seed, faultStream)
  const order = orderFaults(options.kinds, random)
  const endMs = performance.now() + options.minutes * 60_000
  const database = await connect(target.cluster.uri, 'bulk')
  cleanup.add(() => database.close())
  let caused = 0
  const isKindMissing = () => caused < options.kinds.length
  while (performance.now() < endMs || isKindMissing()) {
    const phaseEndMs = Math.min(endMs, performance.now() + phaseMsMax)
    const isLastPhase = phaseEndMs === endMs
    const stop = new AbortController()
    journal.resetStallClock()
    const running = clients.map((client) => client.sendOperations(stop.signal))
    const failed = Promise.race(running)
    while (performance.now() < phaseEndMs || (isLastPhase && isKindMissing())) {
      await Promise.race([sleep(random.between(1_000, 3_000)), failed])
      await causeFault(order.next().value, target, journal, random, log)
      caused++
    }
    stop.abort()
    await Promise.all(running)
    log('at rest: waiting for jobs')
    await waitForJobs(database.db('faults'), journal)
    log(`at rest: checking ${simulation.world.model.posts.size} posts`)
    await checkAtRest(simulation.world.model, journal, target.processes)
  }
  journal.logs = await target.processes.readErrors()
  return journal
}

async function startTarget(
  options: Options,
  cleanup: Cleanup,
  log: (line: string) => void,
): Promise<FaultTarget> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  const hasRoom = memory !== undefined && memory.bavail * memory.bsize >= memoryBytesMin
  const folder = await mkdtemp(join(hasRoom ? '/dev/shm' : tmpdir(), 'feedline-faults-'))
  cleanup.add(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const needsSmallDisk = options.kinds.includes('full-disk')
  const smallDisk = needsSmallDisk ? await createSmallDisk(folder, memberCount) : undefined
  const disk = smallDisk ?? (await createPlainDisk(folder, memberCount))
  cleanup.add(disk.close)
  const mongod = await findMongod({
    binFolder: join(import.meta.dirname, '../.feedline/bin'),
    log,
  })
  log(`starting three members of ${mongod.origin} in ${folder}`)
  const cluster = await Cluster.start(mongod.path, disk, cleanup)
  log('starting two servers and one worker')
  const processOptions = { mongodbUri: cluster.uri, built: options.built, folder }
  const processes = await Processes.start(processOptions, cleanup)
  return { cluster, processes, disk }
}

async function causeFault(
  kind: FaultKind,
  target: FaultTarget,
  journal: Journal,
  random: Random,
  log: (line: string) => void,
): Promise<void> {
  const fault = await planFault(kind, target, random)
  if (typeof fault === 'string') {
    log(`${kind}: skipped, ${fault}`)
    return
  }
  const window = journal.startFault(kind, fault.detail)
  log(`${kind}: ${fault.detail}, for ${(fault.durationMs / 1000).toFixed(1)} s`)
  await fault.cause()
  await sleep(fault.durationMs)
  await target.cluster.heal()
  await target.processes.heal()
  window.healedMs = performance.now()
}

/** Repeats the kinds without end: all kinds in random order, or chosen kinds in their order. */
function* orderFaults(kinds: readonly FaultKind[], random: Random): Generator<FaultKind, never> {
  for (;;) yield* kinds === faultKinds ? random.shuffle(kinds) : kinds
}
