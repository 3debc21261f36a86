import { describe, expect, test } from 'vitest'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { type PollFault, pollFaults } from './model/poll-faults.ts'
import { ProcessSimulation } from './model/process-simulation.ts'
import type { WorldSize } from './model/process-world.ts'

const isNightly = lawRuns(1) >= 100
const { seed } = lawSeed()
const short: WorldSize = { followers: 300, rounds: 1, burstMs: 2_000, starMs: 400 }
const whole: WorldSize = isNightly
  ? { followers: 20_000, rounds: 60, burstMs: 3_000, starMs: 2_000 }
  : { followers: 1_500, rounds: 3, burstMs: 3_000, starMs: 900 }

describe('several processes', () => {
  const harness = useServices()

  test(
    'at rest, clients that poll several servers hold exactly their timelines, while workers are killed',
    async () => {
      const begun = performance.now()
      const { costs, kills, tally } = await ProcessSimulation.run(harness, { size: whole, seed })
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
      const { polls, unchanged, bytes, pages } = costs
      noteFact(
        `L7 in processes, seed ${seed}: ${seconds} s, ${polls} polls, ${unchanged} of them 304, ${Math.round(bytes / polls)} bytes a poll, ${pages} pages, ${kills} workers killed, ${JSON.stringify(Object.fromEntries([...tally].sort()))}`,
      )
      expect(unchanged).toBeGreaterThan(polls / 10)
      expect(kills).toBeGreaterThan(whole.rounds)
    },
    patient(isNightly ? 1_200_000 : 180_000),
  )
})

describe.each(share(3, Object.keys(pollFaults) as PollFault[]))('%s', (fault) => {
  const harness = useServices()

  test('law L7 finds the fault between processes', async () => {
    const run = ProcessSimulation.run(harness, { size: short, seed, fault })
    const failure = await run.then(
      () => undefined,
      (error) => error,
    )
    noteFact(`L7 in processes: ${fault}: ${String(failure).split('\n')[0]}`)
    expect(String(failure)).toContain('AssertionError')
  })
})
