import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Services } from '../../src/services.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import type { KeptDamage } from './model/kept-repairs.ts'
import {
  anyKeptPlan,
  closeAnswering,
  type KeptPlan,
  KeptSimulation,
  type KeptWriter,
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
  'answers that two processes keep equal the model after every change by either (%s)',
  async (name, other) => {
    const law = fc.asyncProperty(anyKeptPlan, async (plan) =>
      new KeptSimulation({ ...setting, ...other }, plan).run(),
    )
    await checkLaw(law, { name: `L1, kept, ${name}`, histories, budgetMs })
    for (const one of asked) expect(tally.get(`${one} kept`)).toBeGreaterThan(10)
  },
  patient(budgetMs + 30_000),
)

/** Writers that raise no versions of a kind of subject. */
const withoutRaises = (kind: string) => (services: Services) => {
  const { versions } = services.collections
  const write = versions.bulkWrite.bind(versions)
  versions.bulkWrite = async (operations, options) => {
    const subjectOf = (one: unknown) => (one as Upsert).updateOne.filter._id
    const others = operations.filter((one) => !subjectOf(one).startsWith(kind))
    if (others.length > 0) return write(others, options)
    return undefined as never
  }
  const update = versions.updateMany.bind(versions)
  versions.updateMany = async (filter, ...rest) => {
    const { $in } = filter._id as unknown as { readonly $in: readonly string[] }
    const others = $in.filter((subject) => !subject.startsWith(kind))
    return update({ ...filter, _id: { $in: others } }, ...rest)
  }
}
interface Upsert {
  readonly updateOne: { readonly filter: { readonly _id: string } }
}

const mutants: Readonly<Record<string, (services: Services) => void>> = {
  'a change of relations raises no version': withoutRaises('relations:'),
  'a delivery raises no version': withoutRaises('timeline:'),
  'a deletion raises no version': withoutRaises('account:'),
  'a deletion raises no version of the group of its author': withoutRaises('accounts:'),
  'a change of registrations raises no version': withoutRaises('registrations'),
}

const drain = { kind: 'drain' } as const
/** A history that finds a mutant which most random histories do not find. It comes first. */
const examples: Readonly<Record<string, KeptPlan>> = {
  'a change of registrations raises no version': {
    edges: [[0, 1]],
    steps: [
      ...Array.from({ length: 8 }, () => drain),
      { kind: 'drop', strategy: 0 },
      { kind: 'drop', strategy: 1 },
      { kind: 'post', a: 1, b: 0, groups: [] },
      ...Array.from({ length: 4 }, () => drain),
    ],
  },
}

test.each(share(1, Object.keys(mutants)))(
  'the law L1 finds the mutant: %s',
  async (name) => {
    const mutant = { ...setting, tally: new Map(), mutate: mutants[name] }
    const law = fc.asyncProperty(anyKeptPlan, async (plan) =>
      new KeptSimulation(mutant, plan).run(),
    )
    const example = examples[name]
    const outcome = await fc.check(law, {
      ...{ numRuns: 200, endOnFailure: true, seed: 1 },
      examples: example ? [[example]] : [],
    })
    noteFact(`L1 mutant of kept answers: ${name}: failed after ${outcome.numRuns} histories`)
    expect(outcome).toMatchObject({ failed: true, interrupted: false })
    expect(String(outcome.errorInstance)).toContain('AssertionError')
  },
  patient(300_000),
)

/**
 * A damage, and the versions that its repair must raise. Lost counters of an author need none: what depends on an author
 * without an account is not kept.
 */
const repairs: Readonly<Partial<Record<KeptDamage, string>>> = {
  'the INBOX is lost': 'timeline:',
  'one side of the edge is lost': 'relations:',
  'a mirror has no block': 'relations:',
}

test.each(share(1, Object.entries(repairs) as [KeptDamage, string][]))(
  'the law L1 finds a reconciliation that raises no version (%s)',
  async (damage, kind) => {
    const steps = [{ kind: 'repair' as const, damage, a: 0, b: 1 }]
    await expectFound({ edges: [[0, 1]], steps }, kind, 'repairs')
  },
)

const idle = { kind: 'forget', part: 'nothing' } as const

test.each(share(1, ['graph', 'relations'] as const))(
  'the law L1 finds a delivery of an import (%s) that raises no version',
  async (from) => {
    const imported = { kind: 'import', from, a: 0, b: 2 } as const
    const steps = [drain, imported, ...Array.from({ length: 12 }, () => idle), drain]
    await expectFound({ edges: [[0, 1]], steps }, 'timeline:', 'users')
  },
)

test('the law L1 finds an import that raises no version', async () => {
  // Answers are kept with the knowledge that the author of stored entries is not followed.
  const unfollow = { kind: 'unfollow', a: 0, b: 2, groups: [] } as const
  const again = { kind: 'import', from: 'graph', a: 0, b: 2 } as const
  const idles = Array.from({ length: 12 }, () => idle)
  const steps = [drain, unfollow, ...idles, again, ...idles, drain]
  await expectFound(
    {
      edges: [
        [0, 1],
        [0, 2],
      ],
      steps,
    },
    'registrations',
    'imports',
  )
})

/** A history that holds fails if writers of one kind raise no versions of a kind of subject. */
async function expectFound(plan: KeptPlan, kind: string, writer: KeptWriter): Promise<void> {
  await new KeptSimulation(setting, plan).run()
  const mutant = { ...setting, tally: new Map<string, number>(), mutate: withoutRaises(kind) }
  const run = new KeptSimulation(mutant, plan, [writer]).run()
  await expect(run).rejects.toThrow(/at rest|while jobs wait/)
}
