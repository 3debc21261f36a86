import fc from 'fast-check'
import { noteFact } from '../../support/facts.ts'
import { lawSeed } from '../../support/seed.ts'

/** How many histories show a law, and the time after which the law has failed, in milliseconds. */
export interface LawOptions {
  readonly name: string
  readonly histories: number
  readonly budgetMs: number
}

/** Checks a law on random histories, which `FEEDLINE_SEED` replays, and notes how many a second. */
export async function checkLaw<T>(
  law: fc.IAsyncProperty<T>,
  { name, histories, budgetMs }: LawOptions,
): Promise<void> {
  const begun = performance.now()
  await fc.assert(law, {
    numRuns: histories,
    interruptAfterTimeLimit: budgetMs,
    markInterruptAsFailure: true,
    ...lawSeed(),
  })
  const perSecond = (histories * 1000) / (performance.now() - begun)
  noteFact(`${name}: ${histories} histories, ${perSecond.toFixed(1)} a second`)
}
