import { setTimeout as sleep } from 'node:timers/promises'

/** How often a balancer asks whether a server is ready, in milliseconds. */
const probeMs = 200

/** A server that a balancer sends requests to. */
export interface Backend {
  readonly url: string
  isReady: boolean
  /** Number of its answers that were data. */
  answered: number
}

/** A balancer: it asks servers whether they are ready, and picks the ready ones in turn. */
export class ReadyServers {
  private readonly backends = new Set<Backend>()
  private turn = 0
  private isStopped = false

  /** Adds a server, which is not ready until a probe says so. */
  add(url: string): Backend {
    const backend = { url, isReady: false, answered: 0 }
    this.backends.add(backend)
    return backend
  }

  remove(backend: Backend): void {
    this.backends.delete(backend)
  }

  get areReady(): boolean {
    return [...this.backends].every(({ isReady }) => isReady)
  }

  /** The next server that is ready. Undefined if none is. */
  pick(): Backend | undefined {
    const ready = [...this.backends].filter(({ isReady }) => isReady)
    return ready[this.turn++ % ready.length]
  }

  /** Probes all servers until {@link stop}. */
  async probe(): Promise<void> {
    while (!this.isStopped) {
      await Promise.all([...this.backends].map((backend) => probeBackend(backend)))
      await sleep(probeMs)
    }
  }

  stop(): void {
    this.isStopped = true
  }
}

async function probeBackend(backend: Backend): Promise<void> {
  backend.isReady = await fetch(`${backend.url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
