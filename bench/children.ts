import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'

/** A process of its own that answers one message with one, in order. */
export interface Child extends AsyncDisposable {
  ask<Answer>(message: object): Promise<Answer>
}

/** Starts the program at path `file`. Disposing of the child ends it; it also ends when this process does. */
export async function startChild(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const child: ChildProcess = fork(file, {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'exit')
  const orEnded = async (answer: Promise<unknown[]>) => {
    const end = ended.then(() => Promise.reject(new Error(`${basename(file)} ended`)))
    return (await Promise.race([answer, end]))[0]
  }
  await orEnded(once(child, 'message'))
  return {
    ask: async <Answer>(message: object) => {
      const answer = once(child, 'message')
      child.send(message)
      return (await orEnded(answer)) as Answer
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

/** The other side: answers each message, and runs `end` when its parent is through with it. */
export function answer(
  handle: (message: never) => unknown,
  end: () => Promise<unknown> = async () => {},
): void {
  process.on('message', async (message) => {
    process.send?.((await handle(message as never)) ?? {})
  })
  process.once('disconnect', async () => {
    await end()
    process.exit()
  })
  process.send?.({ ready: true })
}
