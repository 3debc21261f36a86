import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, memberCount } from './cluster.ts'
import type { Disk } from './disk.ts'
import type { FaultKind } from './options.ts'
import type { Processes } from './processes.ts'
import type { Random } from './random.ts'
import { processNames, serverNames } from './settings.ts'
import { hasProcfs } from './sockets.ts'

/** The database and the processes in which faults are caused. */
export interface FaultTarget {
  readonly cluster: Cluster
  readonly processes: Processes
  readonly disk: Disk
}

/** A fault that is planned and not caused yet. */
export interface PlannedFault {
  /** What the fault does, for logs and the details of violations. */
  readonly detail: string
  /** Causes the fault. Healing the cluster and the processes ends it. */
  readonly cause: () => Promise<void>
  /** How long the fault lasts before it is healed, in milliseconds. */
  readonly durationMs: number
}

/** Chooses the details of one fault. @returns the reason if this machine cannot cause the fault. */
export async function planFault(
  kind: FaultKind,
  target: FaultTarget,
  random: Random,
): Promise<PlannedFault | string> {
  const { cluster, processes, disk } = target
  const server = random.pick(serverNames) ?? 'server-1'
  const primary =
    kind.includes('primary') || kind.includes('partition') || kind === 'full-disk'
      ? await cluster.waitForPrimary()
      : 0
  switch (kind) {
    case 'none':
      return { detail: 'nothing', cause: async () => {}, durationMs: 2_000 }
    case 'kill-primary':
      return {
        detail: `SIGKILL of member ${primary}`,
        cause: () => cluster.signalMember(primary, 'SIGKILL'),
        durationMs: random.between(2_000, 6_000),
      }
    case 'stop-primary':
      return {
        detail: `SIGSTOP of member ${primary}`,
        cause: () => cluster.signalMember(primary, 'SIGSTOP'),
        durationMs: random.between(4_000, 9_000),
      }
    case 'step-down':
      return {
        detail: 'step-down',
        cause: async () => {
          await cluster.runAdminCommand(await cluster.waitForPrimary(), {
            replSetStepDown: 5,
            force: true,
          })
        },
        durationMs: random.between(1_000, 4_000),
      }
    case 'partition':
    case 'partition-with-clients': {
      if (!(await hasProcfs())) return 'a partition needs /proc to find the process of a connection'
      const clients = kind === 'partition' ? 'without' : random.next() < 0.7 ? 'both' : 'with'
      return {
        detail: `member ${primary} cut off, clients: ${clients}`,
        cause: async () => cluster.isolateMember(primary, clients),
        durationMs: random.between(5_000, 9_000),
      }
    }
    case 'full-disk':
      if (!disk.fill) return 'this machine does not allow a small tmpfs without root'
      return {
        detail: `the disk of member ${primary} is full`,
        cause: async () => disk.fill?.(primary),
        durationMs: random.between(4_000, 8_000),
      }
    case 'kill-server':
      return planKill([server], processes, random)
    case 'kill-servers':
      return planKill(serverNames, processes, random)
    case 'kill-worker':
      return planKill(['worker'], processes, random)
    case 'kill-all': {
      const { cause, durationMs } = planKill(processNames, processes, random)
      return {
        detail: 'SIGKILL of every process',
        cause: async () => {
          const members = Array.from({ length: memberCount }, (_, index) => index)
          await Promise.all([
            cause(),
            ...members.map((index) => cluster.signalMember(index, 'SIGKILL')),
          ])
        },
        durationMs,
      }
    }
    case 'stop-server':
      return {
        detail: `SIGSTOP of ${server}`,
        cause: () => processes.signalProcess(server, 'SIGSTOP'),
        durationMs: random.between(3_000, 7_000),
      }
    case 'clock':
      return planClockShift(processes, random)
  }
}

function planKill(
  names: readonly Parameters<Processes['signalProcess']>[0][],
  processes: Processes,
  random: Random,
): PlannedFault {
  return {
    detail: `SIGKILL of ${names.join(', ')}`,
    cause: async () => {
      await Promise.all(names.map((name) => processes.signalProcess(name, 'SIGKILL')))
    },
    durationMs: random.between(200, 2_000),
  }
}

const hourMs = 3_600_000
const clockShiftsMs = [hourMs, -hourMs, 2_000, -2_000, 100, -100, 'back and forth'] as const

function planClockShift(processes: Processes, random: Random): PlannedFault {
  const name = random.pick(processNames) ?? 'worker'
  const shift = random.pick(clockShiftsMs) ?? 100
  const durationMs = random.between(3_000, 6_000)
  return {
    detail: `the clock of ${name} is off by ${shift} ms`,
    durationMs: shift === 'back and forth' ? 0 : durationMs,
    cause: async () => {
      if (shift !== 'back and forth') return processes.shiftClock(name, shift)
      const endMs = performance.now() + durationMs
      while (performance.now() < endMs) {
        await processes.shiftClock(name, Math.round(random.between(-2_000, 2_000)))
        await sleep(random.between(50, 400))
      }
    },
  }
}
