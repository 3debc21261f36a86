import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Cleanup } from '../../faults/cleanup.ts'
import { Cluster, memberCount } from '../../faults/cluster.ts'
import { createPlainDisk } from '../../faults/disk.ts'
import { findMongod } from '../../packages/mongod/find.ts'
import { connect } from '../../src/db/client.ts'
import { binFolder } from '../support/bin-folder.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { logFaults } from './model/log-faults.ts'
import { LogProcesses } from './model/log-processes.ts'

const checksMin = 100_000

test(
  'memory of three processes is never older than what was acknowledged, through every fault of three members',
  async () => {
    const cleanup = new Cleanup()
    try {
      const { path } = await findMongod({ binFolder, log: () => {} })
      const folder = await mkdtemp(join('/dev/shm', 'feedline-log-')).catch(() =>
        mkdtemp(join(tmpdir(), 'feedline-log-')),
      )
      cleanup.add(() => rm(folder, { recursive: true, force: true }))
      const disk = await createPlainDisk(folder, memberCount)
      const cluster = await Cluster.start(path, disk, cleanup)
      const client = await connect(cluster.uri, 'bulk')
      cleanup.add(() => client.close())
      const database = 'log'
      await client.db(database).createCollection('numbered')
      const processes = new LogProcesses(cluster.uri, database, 3)
      cleanup.add(() => processes[Symbol.dispose]())
      const { tally } = processes
      /** Waits for more checks, so that all processes have recovered. */
      const check = async (more: number) => {
        const enough = tally.compared + more
        while (tally.compared < enough) await sleep(100)
      }
      for (let round = 1; round === 1 || tally.compared < checksMin; round++) {
        for (const [name, fault] of Object.entries(logFaults)) {
          await check(4_000)
          const before = { ...tally }
          await fault({ cluster, processes, database, client })
          await cluster.heal()
          await check(4_000)
          const compared = tally.compared - before.compared
          noteFact(`L1 log: ${name}: ${compared} checks, ${tally.stale.length} stale`)
          expect(tally.stale, name).toEqual([])
        }
      }
      const { compared, fromMemory, overwritten } = tally
      noteFact(`L1 log: ${compared} checks, ${fromMemory} from memory, ${overwritten} overwritten`)
      expect(compared).toBeGreaterThanOrEqual(checksMin)
      expect(fromMemory).toBeGreaterThan(compared / 2)
    } finally {
      await cleanup.close()
    }
  },
  patient(900_000),
)
