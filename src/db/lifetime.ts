import type { MongoClient } from 'mongodb'

/**
 * How long a transaction may stay open before the server ends it, in seconds. A killed process
 * locks the documents of its transaction for up to 1.5 times as long. The server checks at
 * intervals of half the lifetime.
 */
export const transactionLifetimeSeconds = 5

/**
 * The longest lifetime without a warning, in seconds. With more, a killed process delays other
 * writes for too long.
 */
const lifetimeSecondsMax = 10

const parameter = 'transactionLifetimeLimitSeconds'

/** The arguments of a mongod that Feedline starts. */
export const lifetimeArguments = ['--setParameter', `${parameter}=${transactionLifetimeSeconds}`]

/**
 * Warns, in one sentence, if the server keeps the transactions of a killed process for longer than
 * 10 s. One command.
 * @returns undefined without a warning, or if this user is not allowed to read the parameter.
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
