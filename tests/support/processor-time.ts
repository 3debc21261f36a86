import { readdirSync, readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

const sampleMs = 500
/** Of a second, in which Linux counts. */
const tickMs = 10
const listed = 10

/** A process, with its own processor time and that of the children it has waited for, in ticks. */
interface Usage {
  readonly parent: number
  readonly ticks: number
}

/**
 * The processes of this machine, by id and time of start, because ids are used again. Empty where
 * there is no `/proc`.
 */
function processes(): Map<string, Usage & { readonly id: number }> {
  const all = new Map<string, Usage & { readonly id: number }>()
  let ids: readonly string[] = []
  try {
    ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {}
  for (const id of ids) {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, 'latin1')
      // After the name in brackets, which may contain anything.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      const [, parent = 0] = fields
      const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
      const ticks = user + system + childUser + childSystem
      all.set(`${id} ${fields[19]}`, { id: Number(id), parent, ticks })
    } catch {
      // It has ended since.
    }
  }
  return all
}

/**
 * Counts the processor time of this process and of all that it and its descendants start, also of a
 * mongod that outlives the server that started it. A process counts for the one that waits for its
 * end, else with its last sample.
 */
class ProcessTree {
  readonly #samples = new Map<string, Usage & { readonly isOrphan: boolean }>()
  #ended = 0

  sample(): void {
    const all = processes()
    const members = this.#membersOf(all)
    const memberIds = new Set(members.values())
    for (const [key, { ticks, isOrphan }] of this.#samples) {
      if (all.has(key)) continue
      this.#samples.delete(key)
      if (isOrphan) this.#ended += ticks
    }
    for (const key of members.keys()) {
      const usage = all.get(key)
      if (!usage) continue
      const isOrphan = usage.id !== process.pid && !memberIds.has(usage.parent)
      this.#samples.set(key, { ...usage, isOrphan })
    }
  }

  /** In seconds, since this process has started. */
  seconds(): number {
    this.sample()
    let ticks = this.#ended
    for (const sample of this.#samples.values()) ticks += sample.ticks
    return (ticks * tickMs) / 1_000
  }

  #membersOf(all: ReturnType<typeof processes>): Map<string, number> {
    const members = new Map<string, number>()
    const ids = new Set<number>()
    const add = (key: string, id: number) => {
      members.set(key, id)
      ids.add(id)
    }
    for (const [key, { id }] of all) if (id === process.pid || this.#samples.has(key)) add(key, id)
    for (let before = -1; before < members.size; ) {
      before = members.size
      for (const [key, { id, parent }] of all) {
        if (ids.has(parent) && !members.has(key)) add(key, id)
      }
    }
    return members
  }
}

/**
 * Prints the dearest files, and at the end of the run the processor time of all its processes
 * together: tests, servers and each mongod. A run of one file after another
 * (`--no-file-parallelism`) tells the processor time of each file.
 */
export function processorTime(): Reporter {
  const tree = new ProcessTree()
  const files: { readonly name: string; readonly seconds: number }[] = []
  let isAlone = false
  let before = 0
  return {
    onInit: (vitest) => {
      isAlone = vitest.projects.every(({ config }) => config.maxWorkers === 1)
      setInterval(() => tree.sample(), sampleMs).unref()
      process.on('exit', () => {
        const spent = Math.round(tree.seconds())
        const said = spent > 0 ? `${spent} s` : `not counted on ${process.platform}`
        console.log(`Processor time of all processes: ${said}`)
      })
    },
    onTestModuleEnd: (file: TestModule) => {
      const spent = isAlone ? tree.seconds() : 0
      const seconds = isAlone ? spent - before : file.diagnostic().duration / 1_000
      before = spent
      files.push({ name: file.relativeModuleId, seconds })
    },
    onTestRunEnd: () => {
      const dearest = files.toSorted((a, b) => b.seconds - a.seconds)
      const rows = dearest
        .slice(0, isAlone ? files.length : listed)
        .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`)
      if (files.length > 1) {
        console.log(`\n${isAlone ? 'Processor time by file' : 'The longest files'}:`)
        console.log(rows.join('\n'))
      }
    },
  }
}
