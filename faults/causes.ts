import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, memberCount } from './cluster.ts'
import type { Disk } from './disk.ts'
import type { FaultKind } from './options.ts'
import type { Processes } from './processes.ts'
import type { Random } from './random.ts'
import { processNames, serverNames } from './settings.ts'
import { hasProc } from './sockets.ts'

/** What faults are caused in. */
export interface Target {
  readonly cluster: Cluster
  readonly processes: Processes
  readonly disk: Disk
}

/** A fault chosen but not caused yet. */
export interface Cause {
  /** What exactly happens, for the details of violations. */
  readonly detail: string
  /** Causes the fault. Healing ends it. */
  readonly begin: () => Promise<void>
  /** How long it lasts before everything heals, in milliseconds. */
  readonly lastsMs: number
}

/** Chooses the details of one fault. @returns the reason when this machine cannot cause it. */
export async function causeOf(
  kind: FaultKind,
  target: Target,
  random: Random,
): Promise<Cause | string> {
  const { cluster, processes, disk } = target
  const server = random.pick(serverNames) ?? 'server-1'
  const primary =
    kind.includes('primary') || kind.includes('partition') || kind === 'full-disk'
      ? await cluster.primary()
      : 0
  switch (kind) {
    case 'none':
      return { detail: 'nothing', begin: async () => {}, lastsMs: 2_000 }
    case 'kill-primary':
      return {
        detail: `SIGKILL of member ${primary}`,
        begin: () => cluster.signal(primary, 'SIGKILL'),
        lastsMs: random.between(2_000, 6_000),
      }
    case 'stop-primary':
      return {
        detail: `SIGSTOP of member ${primary}`,
        begin: () => cluster.signal(primary, 'SIGSTOP'),
        lastsMs: random.between(4_000, 9_000),
      }
    case 'step-down':
      return {
        detail: 'step-down',
        begin: async () => {
          await cluster.tell(await cluster.primary(), { replSetStepDown: 5, force: true })
        },
        lastsMs: random.between(1_000, 4_000),
      }
    case 'partition':
    case 'partition-with-clients': {
      if (!(await hasProc())) return 'partitions need /proc to tell connections apart'
      const clients = kind === 'partition' ? 'without' : random.next() < 0.7 ? 'both' : 'with'
      return {
        detail: `member ${primary} cut off, clients: ${clients}`,
        begin: async () => cluster.isolate(primary, clients),
        lastsMs: random.between(5_000, 9_000),
      }
    }
    case 'full-disk':
      if (!disk.fill) return 'no small tmpfs without root here'
      return {
        detail: `the disk of member ${primary} is full`,
        begin: async () => disk.fill?.(primary),
        lastsMs: random.between(4_000, 8_000),
      }
    case 'kill-server':
      return killing([server], processes, random)
    case 'kill-servers':
      return killing(serverNames, processes, random)
    case 'kill-worker':
      return killing(['worker'], processes, random)
    case 'kill-all': {
      const { begin, lastsMs } = killing(processNames, processes, random)
      return {
        detail: 'SIGKILL of every process',
        begin: async () => {
          const members = Array.from({ length: memberCount }, (_, index) => index)
          await Promise.all([begin(), ...members.map((one) => cluster.signal(one, 'SIGKILL'))])
        },
        lastsMs,
      }
    }
    case 'stop-server':
      return {
        detail: `SIGSTOP of ${server}`,
        begin: () => processes.signal(server, 'SIGSTOP'),
        lastsMs: random.between(3_000, 7_000),
      }
    case 'clock':
      return clockCause(processes, random)
  }
}

function killing(
  names: readonly Parameters<Processes['signal']>[0][],
  processes: Processes,
  random: Random,
): Cause {
  return {
    detail: `SIGKILL of ${names.join(', ')}`,
    begin: async () => {
      await Promise.all(names.map((name) => processes.signal(name, 'SIGKILL')))
    },
    lastsMs: random.between(200, 2_000),
  }
}

const hourMs = 3_600_000
const shiftsMs = [hourMs, -hourMs, 2_000, -2_000, 100, -100, 'back and forth'] as const

function clockCause(processes: Processes, random: Random): Cause {
  const name = random.pick(processNames) ?? 'worker'
  const shift = random.pick(shiftsMs) ?? 100
  const lastsMs = random.between(3_000, 6_000)
  return {
    detail: `the clock of ${name} is off by ${shift} ms`,
    lastsMs: shift === 'back and forth' ? 0 : lastsMs,
    begin: async () => {
      if (shift !== 'back and forth') return processes.shiftClock(name, shift)
      const until = performance.now() + lastsMs
      while (performance.now() < until) {
        await processes.shiftClock(name, Math.round(random.between(-2_000, 2_000)))
        await sleep(random.between(50, 400))
      }
    },
  }
}
