import type { Child } from '../child-process.ts'
import type { Server } from '../feeds/http.ts'
import type { BenchOptions } from '../options.ts'
import type { LoadMessage, LoadRequest } from './load-process.ts'
import { runLoad } from './loads.ts'

/** Turns for each round, and how long each server is loaded in a turn at most, in milliseconds. */
const [turnsOfRound, burstMsMax] = [4, 2_000]
/** Few, so that a slow mutation of one burst does not end in the next one. */
const connections = 8

/**
 * Measures the processor time of a request in several servers, which are loaded in turn, each of
 * them first as often. The machine changes its speed within seconds, so only the bursts of one turn
 * are compared.
 * @returns of each turn, the processor time in each server, in microseconds.
 */
export async function measureProcessorTime<Name extends string>(
  load: Child,
  servers: Readonly<Record<Name, Server>>,
  requests: readonly LoadRequest[],
  { rounds, ms, log }: Pick<BenchOptions, 'rounds' | 'ms' | 'log'>,
): Promise<Record<Name, number>[]> {
  const turns = Math.ceil(turnsOfRound * rounds)
  const burstMs = Math.min(ms, burstMsMax)
  const names = Object.keys(servers) as Name[]
  const burst = async (name: Name) => {
    const server = servers[name]
    await load.sendRequest({ port: server.port, requests } satisfies LoadMessage)
    const before = await server.readCpuTimeUs()
    const { acceptedMs } = await runLoad(load, { connections, ms: burstMs })
    return ((await server.readCpuTimeUs()) - before) / acceptedMs.length
  }
  for (const name of names) await burst(name)
  const measured: Record<Name, number>[] = []
  for (let turn = 1; turn <= turns; turn++) {
    const us: Partial<Record<Name, number>> = {}
    const first = turn % names.length
    for (const name of [...names.slice(first), ...names.slice(0, first)])
      us[name] = await burst(name)
    measured.push(us as Record<Name, number>)
    const times = names.map((name) => `${name} ${us[name]?.toFixed(0)} µs`)
    log(`processor time of a request, turn ${turn} of ${turns}: ${times.join(', ')}`)
  }
  return measured
}
