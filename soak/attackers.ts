import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../faults/random.ts'
import { bytesOfJson } from '../tests/attacks/attack.ts'
import { rawBytes } from '../tests/attacks/table/connections.ts'
import { contentAttacks } from '../tests/attacks/table/contents.ts'
import { documents } from '../tests/attacks/table/documents.ts'
import { envelopes } from '../tests/attacks/table/envelopes.ts'
import { transport } from '../tests/attacks/table/http.ts'
import { tokenAttacks } from '../tests/attacks/table/tokens.ts'
import { values } from '../tests/attacks/table/values.ts'
import { exchange } from '../tests/attacks/wire.ts'

/** Without rows that the server ends after 30 s, which would keep a client from other attacks. */
const quickBytes = rawBytes.filter(({ answers }) => !answers.some((text) => text.startsWith('408')))
const families = [
  ...[documents, values, contentAttacks, envelopes, tokenAttacks, transport],
  quickBytes,
]

/**
 * How many clients attack at once, and the time between two attacks of one client, in milliseconds.
 */
const [clients, pauseMs] = [4, 20]
/** The requests of a flood. */
const floodRequests = 50

/** A document that costs much, and is within all limits. */
const costly = JSON.stringify({
  query: `{ timeline(first: 100) { edges { node { text author { name followers(first: 20) {
    edges { node { name } } } } likes(first: 10) { edges { cursor } } } } } }`,
})
const light = JSON.stringify({ query: '{ viewer { handle } }' })

type Attack = (port: number, random: Random) => Promise<unknown>

/** The attacks by name. Each ends by itself, within seconds. */
const attacks: Readonly<Record<string, Attack>> = {
  row: (port, random) => exchange(port, random.pick(random.pick(families) ?? [])?.sending ?? none),
  abort: async (port, random) => {
    const pieces = [
      bytesOfJson(costly),
      ...Array<string>(Math.floor(random.between(0, 5))).fill(''),
    ]
    return exchange(port, { pieces, finish: 'leave' })
  },
  'slow sender': (port) => {
    const bytes = bytesOfJson(costly)
    const pieces = Array.from({ length: 100 }, (_, at) => bytes.subarray(at, at + 1))
    return exchange(port, { pieces, finish: 'leave' })
  },
  'flood of bad tokens': (port) => flood(port, bytesOfJson(light, 'no.such.token')),
  'flood of one viewer': (port) => flood(port, bytesOfJson(light)),
  'costly document': (port) => exchange(port, { pieces: [bytesOfJson(costly)], finish: 'wait' }),
}
const none = { pieces: [], finish: 'leave' } as const

const flood = (port: number, bytes: Buffer) =>
  Promise.all(
    Array.from({ length: floodRequests }, () =>
      exchange(port, { pieces: [bytes], finish: 'wait' }),
    ),
  )

/** Clients that attack a server until they are stopped. */
export class Attackers {
  /** How often each attack was made. */
  readonly counts = new Map<string, number>()
  /** Attacks whose connection the server did not close, at most ten. */
  readonly problems: string[] = []
  private running: readonly Promise<void>[] = []
  private isStopping = false

  /** @param seed of the choice of attacks. */
  constructor(
    private readonly port: number,
    private readonly seed: number,
  ) {}

  /** Starts to attack. `turn` continues the choices of the seed. */
  start(turn: number): void {
    this.isStopping = false
    this.running = Array.from({ length: clients }, (_, client) =>
      this.attack(new Random(this.seed, turn * clients + client)),
    )
  }

  /** Resolves once all attacks under way have ended. */
  async stop(): Promise<void> {
    this.isStopping = true
    await Promise.all(this.running)
  }

  private async attack(random: Random): Promise<void> {
    while (!this.isStopping) {
      const [name, attack] = random.pick(Object.entries(attacks)) ?? []
      if (!name || !attack) return
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
      await attack(this.port, random).catch((error) => {
        if (this.problems.length < 10) this.problems.push(`${name}: ${(error as Error).message}`)
      })
      await sleep(pauseMs)
    }
  }
}
