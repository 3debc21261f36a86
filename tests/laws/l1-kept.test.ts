import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Change } from '../../src/memory/followed.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import {
  anyKeptPlan,
  closeAnswering,
  type KeptPlan,
  KeptSimulation,
} from './model/kept-simulation.ts'
import { fewSeconds, type Setting, small } from './model/setting.ts'

const histories = lawRuns(4)
const budgetMs = 180_000 + histories * 5_000
const harness = useServices()
/** Registrations outlast a history, so another retention has a database of its own. */
const trimmed = useServices()
const asked = ['CACHE', 'INBOX'] as const
const tally = new Map<string, number>()
const setting: Setting = { harness, feed: small(asked), asked, registered: asked, tally }
afterAll(closeAnswering)
afterAll(() => noteFact(`L1, kept: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`))

test.each([
  ['everything is stored', {}],
  ['the entries of two seconds are stored', { harness: trimmed, feed: fewSeconds(asked) }],
] as const)(
  'pages of processes that keep memory and of one that keeps nothing equal the model after every change (%s)',
  async (name, other) => {
    // Processes are those of a database.
    const tells = () => true
    const law = fc.asyncProperty(anyKeptPlan, async (plan) =>
      new KeptSimulation({ ...setting, ...other }, plan, tells).run(),
    )
    await checkLaw(law, { name: `L1, kept, ${name}`, histories, budgetMs })
  },
  patient(budgetMs + 30_000),
)

/** Logs that do not tell memory of some changes. */
const mutants: Readonly<Record<string, (change: Change) => boolean>> = {
  'a new post is not told': ({ collection, operation }) =>
    collection !== 'posts' || operation !== 'insert',
  'a deleted post is not told': ({ collection, operation }) =>
    collection !== 'posts' || operation !== 'delete',
  'a profile is not told': ({ collection }) => collection !== 'users',
  'a deleted account is not told': ({ collection, operation }) =>
    collection !== 'user_stats' || operation !== 'delete',
  'a follow is not told': ({ fields = [] }) => !fields.includes('following'),
  'a mute is not told': ({ fields = [] }) => !fields.includes('guard'),
  'a repair is not told': ({ fields = [] }) => !fields.includes('repairs'),
  'a registration is not told': ({ collection }) => collection !== 'strategies',
}

const drain = { kind: 'drain' } as const
/** Histories that find mutants which most random histories do not find. They come first. */
const examples: Readonly<Record<string, KeptPlan>> = {
  'a registration is not told': {
    edges: [[0, 1]],
    steps: [
      ...Array.from({ length: 8 }, () => drain),
      { kind: 'drop', strategy: 0 },
      { kind: 'drop', strategy: 1 },
      { kind: 'post', a: 1, b: 0, groups: [] },
      ...Array.from({ length: 4 }, () => drain),
    ],
  },
  'a repair is not told': {
    edges: [[0, 1]],
    steps: [drain, { kind: 'repair', damage: 'one side of the edge is lost', a: 0, b: 1 }],
  },
}

test.each(share(1, Object.keys(mutants)))(
  'the law L1 finds the mutant: %s',
  async (name) => {
    const law = fc.asyncProperty(anyKeptPlan, async (plan) =>
      new KeptSimulation({ ...setting, tally: new Map() }, plan, mutants[name]).run(),
    )
    const example = examples[name]
    const outcome = await fc.check(law, {
      ...{ numRuns: 200, endOnFailure: true, seed: 1 },
      examples: example ? [[example]] : [],
    })
    noteFact(`L1 mutant of memory: ${name}: failed after ${outcome.numRuns} histories`)
    expect(outcome).toMatchObject({ failed: true, interrupted: false })
    expect(String(outcome.errorInstance)).toContain('AssertionError')
  },
  patient(300_000),
)
