import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './process.ts'

/** What the tests of a run have measured, a line each. Each run begins with an empty file. */
export const factsFile = join(root, 'test-results/facts.log')

/** Adds a line to the facts of the run. */
export function noteFact(fact: string): void {
  mkdirSync(dirname(factsFile), { recursive: true })
  appendFileSync(factsFile, `${fact}\n`)
}
