import { vi } from 'vitest'
import '../../packages/index.ts'
import { runCommandLine } from '../../src/cli/program.ts'

/** What a command printed, and its exit code. */
export interface CommandOutcome {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/**
 * Runs a command in this process, which spares the start of another one. Of Feedline's environment
 * variables, it gets only `env`. For commands that end by themselves; what a logger prints is not
 * captured.
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const text = { stdout: '', stderr: '' }
  const printTo = (stream: keyof typeof text) => (chunk: unknown) => {
    text[stream] += chunk
    return true
  }
  let exited: CommandOutcome | undefined
  const before = { env: process.env, exitCode: process.exitCode }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(printTo('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(printTo('stderr')),
    vi.spyOn(console, 'log').mockImplementation((line) => void printTo('stdout')(`${line}\n`)),
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      exited ??= { ...text, code: Number(code ?? 0) }
      throw new Error('exit')
    }),
  ]
  process.env = { PATH: before.env.PATH, HOME: before.env.HOME, ...env }
  process.exitCode = undefined
  try {
    await runCommandLine(args)
    return exited ?? { ...text, code: Number(process.exitCode ?? 0) }
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.env = before.env
    process.exitCode = before.exitCode
  }
}
