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
import type { Op } from './model/model.ts'
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

const drain = { kind: 'drain' } as const
const op = (kind: Op['kind'], a: number, b: number): Op => ({ kind, a, b, groups: [] })
/** Posts of the second user are in memory of the first one, a follower, before the change. */
const changed = (...steps: KeptPlan['steps']): KeptPlan => ({
  edges: [[0, 1]],
  steps: [drain, ...steps],
})

/** Logs that do not tell memory of some changes, each with a history in which a page needs them. */
const mutants: Readonly<
  Record<string, { readonly tells: (change: Change) => boolean; readonly history: KeptPlan }>
> = {
  'a new post is not told': {
    tells: ({ collection, operation }) => collection !== 'posts' || operation !== 'insert',
    history: changed(op('post', 1, 0)),
  },
  'a deleted post is not told': {
    tells: ({ collection, operation }) => collection !== 'posts' || operation !== 'delete',
    history: changed(op('deletePost', 0, 1)),
  },
  'a profile is not told': {
    tells: ({ collection }) => collection !== 'users',
    history: changed({ kind: 'rename', user: 1, name: 'Ann' }),
  },
  // Its profile and its counters change together, and either of them is enough.
  'a deleted account is not told': {
    tells: ({ collection, operation }) =>
      collection !== 'users' && (collection !== 'user_stats' || operation !== 'delete'),
    history: changed(op('deleteUser', 1, 0)),
  },
  'a follow is not told': {
    tells: ({ fields = [] }) => !fields.includes('following'),
    history: changed(op('follow', 0, 2)),
  },
  'a mute is not told': {
    tells: ({ fields = [] }) => !fields.includes('guard'),
    history: changed(op('mute', 0, 1)),
  },
  'a repair is not told': {
    tells: ({ fields = [] }) => !fields.includes('repairs'),
    history: changed({ kind: 'repair', damage: 'one side of the edge is lost', a: 0, b: 1 }),
  },
  'a registration is not told': {
    tells: ({ collection }) => collection !== 'strategies',
    history: changed(
      ...Array.from({ length: 7 }, () => drain),
      { kind: 'drop', strategy: 0 },
      { kind: 'drop', strategy: 1 },
      op('post', 1, 0),
      ...Array.from({ length: 4 }, () => drain),
    ),
  },
}

const tellsAll = () => true

test.each(share(1, Object.keys(mutants)))('the law L1 finds the mutant: %s', async (name) => {
  const { tells, history } = mutants[name] as (typeof mutants)[string]
  const play = (told: (change: Change) => boolean) =>
    new KeptSimulation({ ...setting, tally: new Map() }, history, told).run()
  await play(tellsAll)
  await expect(play(tells)).rejects.toMatchObject({ name: 'AssertionError' })
})
