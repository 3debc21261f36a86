import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isAlive } from './pid.ts'

const positive = z.number().int().positive()
const userSchema = z.object({ pid: positive, token: z.string() }).readonly()
const stateSchema = z
  .object({
    pid: positive,
    port: positive,
    users: z.array(userSchema).readonly(),
    stopping: z.boolean(),
  })
  .readonly()

/** One opening of the embedded mongod: the process id, and a token of this opening. */
export type MongodUser = z.infer<typeof userSchema>

/** The content of a data folder's `mongod.json`: its mongod, and the users of that mongod. */
export type MongodState = z.infer<typeof stateSchema>

const fileIn = (dataFolder: string) => join(dataFolder, 'mongod.json')

/** The state, or undefined if there is none or it cannot be read. */
export function readState(dataFolder: string): MongodState | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(fileIn(dataFolder), 'utf8')))
  } catch {
    return undefined
  }
}

/** Replaces the state: a reader sees the old or the new one, never a part. */
export function writeState(dataFolder: string, state: MongodState): void {
  const next = `${fileIn(dataFolder)}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  renameSync(next, fileIn(dataFolder))
}

export const removeState = (dataFolder: string): void => rmSync(fileIn(dataFolder), { force: true })

/** The users whose process still runs, without the user of `token`. */
export const otherUsers = (state: MongodState, token?: string): readonly MongodUser[] =>
  state.users.filter((user) => user.token !== token && isAlive(user.pid))
