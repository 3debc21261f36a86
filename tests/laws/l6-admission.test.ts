import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Change } from '../../src/memory/followed.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { noteFact } from '../support/facts.ts'
import { keepMemory } from '../support/memory.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import { servicesOver, useServices } from '../support/services.ts'
import {
  type AdmissionPlan,
  AdmissionSimulation,
  anyAdmissionPlan,
} from './model/admission-simulation.ts'
import { checkLaw } from './model/check-law.ts'
import { toggleBlocks } from './model/toggled-blocks.ts'

const histories = lawRuns(6)
const budgetMs = 60_000 + histories * 5_000
const limits = { threshold: 3, capacity: 2 }
const harness = useServices('collection', sameLimits(limits))
const opened: Services[] = []
afterAll(() => Promise.all(opened.map(({ memory }) => memory.close())))

function newProcess(): Services {
  const services = servicesOver(harness.database, harness.clock, sameLimits(limits))
  opened.push(services)
  return services
}
async function processesTold(tells?: (change: Change) => boolean) {
  const kept = [newProcess(), newProcess()] as const
  await Promise.all(kept.map((one) => keepMemory(one, tells)))
  return [...kept, newProcess()] as const
}

let processes: readonly [Services, Services, Services]
beforeAll(async () => {
  processes = await processesTold()
})

const step = (verb: AdmissionPlan[number]['verb']) => ({ verb, a: 0, to: 1, by: 2 })
/** A history that finds each mutant: memory is filled, and then changes. */
const examples: Readonly<Record<string, AdmissionPlan>> = {
  'a block is not told': [step('mute'), step('block')],
  'a deleted account is not told': [step('mute'), step('deleteUser')],
  'a repair is not told': [step('mute'), step('repair')],
  'nothing waits for what is told': [step('mute'), step('block')],
}

test(
  'every process, with and without memory, admits an engagement as blocks and deletions say that were acknowledged before',
  async () => {
    const tally = new Map<string, number>()
    const law = fc.asyncProperty(anyAdmissionPlan, async (plan) =>
      new AdmissionSimulation(processes, limits, tally).run(plan),
    )
    const known = Object.values(examples).map((plan): [AdmissionPlan] => [plan])
    await checkLaw(law, { name: 'L6, admission', histories, budgetMs, examples: known })
    noteFact(`L6, admission: ${JSON.stringify(Object.fromEntries(tally))}`)
    expect([...tally.keys()].sort()).toEqual(['admitted', 'refused'])
  },
  patient(budgetMs + 30_000),
)

test('while blocks come and go, no process admits an engagement that began after a block, or refuses one after its end', async () => {
  const { tally, problems } = await toggleBlocks(processes, lawRuns(30))
  noteFact(`L6, admission while blocks come and go: ${JSON.stringify(Object.fromEntries(tally))}`)
  expect(problems).toEqual([])
})

/** Logs that do not tell memory of some changes, or not in time. */
const mutants: Readonly<Record<string, (change: Change) => boolean>> = {
  'a block is not told': ({ fields = [] }) => !fields.includes('guard'),
  'a deleted account is not told': ({ collection, operation }) =>
    collection !== 'users' && !(collection === 'user_stats' && operation === 'delete'),
  'a repair is not told': ({ fields = [] }) => !fields.includes('repairs'),
  'nothing waits for what is told': () => true,
}

test.each(share(1, Object.keys(mutants)))('a history finds the mutant: %s', async (name) => {
  const told = await processesTold(mutants[name])
  if (name === 'nothing waits for what is told')
    for (const { memory } of told) memory.isCurrent = async () => memory.position !== undefined
  const play = () =>
    new AdmissionSimulation(told, limits).run(examples[name] ?? []).then(
      () => undefined,
      (error: unknown) => error,
    )
  // A process whose memory is in doubt reads, and so is no mutant.
  let found = await play()
  for (let more = 20; more > 0 && found === undefined; more--) found = await play()
  expect(String(found)).toContain('AssertionError')
})
