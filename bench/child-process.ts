import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'

/** A child process that answers each request with one message, in order. */
export interface Child extends AsyncDisposable {
  sendRequest<Result>(message: object): Promise<Result>
}

/**
 * Starts the program at path `file`, which is compiled or TypeScript. The child ends when it is
 * disposed of, or when this process ends.
 * @param flags options of Node.
 */
export async function startChild(
  file: string,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<Child> {
  const child: ChildProcess = fork(file, {
    execArgv: [...flags, ...(file.endsWith('.ts') ? ['--import', 'tsx'] : [])],
    env: { ...process.env, ...env },
    // Its log must not be in the result.
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
  })
  const ended = once(child, 'exit')
  const unlessEnded = async (answer: Promise<unknown[]>) => {
    const end = ended.then(() => Promise.reject(new Error(`the process ${basename(file)} ended`)))
    return (await Promise.race([answer, end]))[0]
  }
  await unlessEnded(once(child, 'message'))
  return {
    sendRequest: async <Result>(message: object) => {
      const answer = once(child, 'message')
      child.send(message)
      return (await unlessEnded(answer)) as Result
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/**
 * Answers the requests of the parent process. Runs `close` and exits when the parent disconnects.
 */
export function handleRequests(
  handle: (message: never) => unknown,
  close: () => Promise<unknown> = async () => {},
): void {
  process.on('message', async (message) => {
    process.send?.((await handle(message as never)) ?? {})
  })
  // Ctrl+C signals the children too. They end when their parent does.
  process.on('SIGINT', () => {})
  const end = async () => {
    await close()
    process.exit()
  }
  // The parent may have ended while this process started.
  if (!process.connected) return void end()
  process.once('disconnect', end)
  process.send?.({ ready: true })
}
