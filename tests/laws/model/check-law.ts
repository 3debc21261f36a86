import fc from 'fast-check'
import { noteFact } from '../../support/facts.ts'
import { patient } from '../../support/patience.ts'
import { lawSeed, nightLimit } from '../../support/seed.ts'

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

/**
 * Checks a law on random histories, which `FEEDLINE_SEED` replays. Notes how many a second, and the
 * longest: one of these far above the others waited for something that it should not wait for.
 */
export async function checkLaw<T>(
  law: fc.IAsyncProperty<T>,
  { name, histories, budgetMs, examples = [] }: LawOptions<T>,
): Promise<void> {
  const begun = performance.now()
  let [historyBegun, longest] = [begun, 0]
  let tried = 0
  const noteHistory = () => {
    tried++
    longest = Math.max(longest, performance.now() - historyBegun)
  }
  const startHistory = () => {
    historyBegun = performance.now()
  }
  const limits = {
    numRuns: histories + examples.length,
    interruptAfterTimeLimit: patient(budgetMs),
    markInterruptAsFailure: true,
    examples: [...examples],
    ...lawSeed(),
    ...nightLimit,
  }
  const plugins = [fc.beforeEach(startHistory), fc.afterEach(noteHistory)]
  await fc.assert(law, { ...limits, plugins })
  const perSecond = (tried * 1000) / (performance.now() - begun)
  const speed = `${perSecond.toFixed(1)} a second, the longest ${longest.toFixed(0)} ms`
  noteFact(`${name}: ${tried} histories, ${speed}`)
}
