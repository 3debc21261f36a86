import fc from 'fast-check'
import { stopwatch } from '../../../src/lib/stopwatch.ts'
import { noteFact } from '../../support/facts.ts'
import { patient } from '../../support/patience.ts'
import { lawSeed, size } from '../../support/seed.ts'

/**
 * How many histories show a law, and the time after which a law hangs on a quiet machine, in
 * milliseconds.
 */
export interface LawOptions<T> {
  readonly name: string
  readonly histories: number
  readonly budgetMs: number
  /** Further histories, which come first. Default: none. */
  readonly examples?: readonly T[]
}

/** At night, a law tries no further histories after this time, so that a night ends. */
const nightMs = 300_000
/** The number of histories after which a law looks at the time. */
const roundMax = 20

/**
 * Checks a law on random histories, which `FEEDLINE_SEED` replays. Notes how many a second, and the
 * longest: one of these far above the others waited for something that it should not wait for.
 */
export async function checkLaw<T>(
  law: fc.IAsyncProperty<T>,
  { name, histories, budgetMs, examples = [] }: LawOptions<T>,
): Promise<void> {
  const elapsedMs = stopwatch()
  let [historyBegunMs, longest, tried] = [0, 0, 0]
  const noteHistory = () => {
    longest = Math.max(longest, elapsedMs() - historyBegunMs)
  }
  const startHistory = () => {
    historyBegunMs = elapsedMs()
  }
  const plugins = [fc.beforeEach(startHistory), fc.afterEach(noteHistory)]
  const { seed } = lawSeed()
  for (let round = 0; tried < histories && (round === 0 || elapsedMs() < nightMs); round++) {
    const first = round === 0 ? [...examples] : []
    const isNight = size === 'night'
    const more = isNight ? Math.min(roundMax, histories - tried) : histories
    await fc.assert(law, {
      numRuns: more + first.length,
      interruptAfterTimeLimit: patient(budgetMs),
      markInterruptAsFailure: true,
      examples: first,
      seed: seed + round,
      plugins,
    })
    tried += more
  }
  const perSecond = (tried * 1000) / elapsedMs()
  const speed = `${perSecond.toFixed(1)} a second, the longest ${longest.toFixed(0)} ms`
  noteFact(`${name}: ${tried} histories, ${speed}`)
}
