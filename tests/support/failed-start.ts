import { expect } from 'vitest'
import { feedline } from './process.ts'

export type Variables = Readonly<Record<string, string>>

/** The only line of a command that fails, without its beginning. */
export async function sentenceOf(command: string, env: Variables): Promise<string> {
  const failed = feedline([command], { PORT: '0', ...env })
  expect(await failed.ended, `${command}: ${failed.out()}${failed.err()}`).toBe(1)
  expect(failed.err()).toMatch(/^feedline: [^\n]+\n$/)
  return failed.err().slice('feedline: '.length, -1)
}
