import type { MongoClient } from 'mongodb'

/**
 * How long a transaction may stay open before the server ends it, in seconds. A process that was killed in the middle
 * of a transaction holds its documents for up to one and a half times that: the server looks at every half.
 */
export const transactionLifetimeSeconds = 5

/** Above this, in seconds, the death of one process delays the writes of the others for too long. */
const lifetimeSecondsMax = 10

const parameter = 'transactionLifetimeLimitSeconds'

/** What mongod is started with, where Feedline starts it. */
export const lifetimeArguments = ['--setParameter', `${parameter}=${transactionLifetimeSeconds}`]

/**
 * Says, in one sentence, when the server keeps the transactions of a killed process for long.
 * @returns undefined when it does not, or when this user may not ask. One command.
 */
export async function lifetimeWarning(client: MongoClient): Promise<string | undefined> {
  const answer = await client
    .db('admin')
    .command({ getParameter: 1, [parameter]: 1 })
    .catch(() => undefined)
  const seconds = Number(answer?.[parameter])
  return seconds > lifetimeSecondsMax
    ? `${parameter} is ${seconds}: a process that is killed may hold up the writes of all others for ${Math.round(1.5 * seconds)} s; set it to ${transactionLifetimeSeconds}`
    : undefined
}
