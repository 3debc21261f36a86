import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Finds the Node of an option: the path of a binary, or a version of the npm package `node` that
 * npx has already.
 * @throws if there is none.
 */
export function findNode(option: string): string {
  if (existsSync(option)) return resolve(option)
  const npx = ['--yes', '--package', `node@${option}`, '--', 'node']
  const isVersion = /^\d+(\.\d+){0,2}$/.test(option)
  const { status, stdout } = isVersion
    ? spawnSync('npx', ['--offline', ...npx, '-p', 'process.execPath'], { encoding: 'utf8' })
    : { status: 1, stdout: '' }
  if (status === 0 && existsSync(stdout.trim())) return stdout.trim()
  throw new Error(
    isVersion
      ? `Node ${option} is not installed. Install it: npx ${npx.join(' ')} --version`
      : `There is no Node at ${option}.`,
  )
}

/** The arguments of a command line without its option `--node` and the value of it. */
export const withoutNodeOption = (args: readonly string[]): string[] =>
  args.filter(
    (arg, at) => !arg.startsWith('--node=') && arg !== '--node' && args[at - 1] !== '--node',
  )

/**
 * Starts this command line on another Node, without the option `--node`. So all processes of a
 * benchmark run on it.
 */
export const startOn = (node: string): ChildProcess =>
  fork(process.argv[1] ?? '', withoutNodeOption(process.argv.slice(2)), {
    execPath: node,
    execArgv: ['--import', 'tsx'],
  })
