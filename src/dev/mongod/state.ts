import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isAlive } from './pid.ts'

const positive = z.number().int().positive()
const userSchema = z.object({ pid: positive, token: z.string() }).readonly()
const stateSchema = z.object({
  pid: positive,
  port: positive,
  users: z.array(userSchema).readonly(),
  stopping: z.boolean(),
})

/** One opening of the embedded mongod: the process, and which of its openings. */
export type EmbeddedUser = z.infer<typeof userSchema>

/** What a data folder's `mongod.json` tells: which mongod serves it, and who uses that. */
export type EmbeddedState = Readonly<z.infer<typeof stateSchema>>

const fileIn = (dataFolder: string) => join(dataFolder, 'mongod.json')

/** @returns the state, or undefined when there is none that can be read. */
export function readState(dataFolder: string): EmbeddedState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(fileIn(dataFolder), 'utf8'))).data
  } catch {
    return undefined
  }
}

/** Replaces the state: a reader meets the old or the new one, never a part. */
export function writeState(dataFolder: string, state: EmbeddedState): void {
  const next = `${fileIn(dataFolder)}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(state)}\n`)
  renameSync(next, fileIn(dataFolder))
}

/** Forgets the state. */
export const removeState = (dataFolder: string): void => rmSync(fileIn(dataFolder), { force: true })

/** The users whose process still runs, without the one given. */
export const usersBeside = (state: EmbeddedState, token?: string): readonly EmbeddedUser[] =>
  state.users.filter((user) => user.token !== token && isAlive(user.pid))
