import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { connect } from '../../../src/db/client.ts'
import { clientErrorOf } from '../../../src/db/errors.ts'
import { readConfig } from '../../../src/environment.ts'
import { DomainError } from '../../../src/errors.ts'
import { Report } from '../../../src/integrity/report.ts'
import { reconcile } from '../../../src/integrity/run.ts'
import { Worker } from '../../../src/jobs/worker.ts'
import type { PostRef, UserId } from '../../../src/lib/ids.ts'
import { createServices, type Services } from '../../../src/services.ts'
import { sameLimits } from '../../support/engagement.ts'
import type { TestDatabase } from '../../support/mongo.ts'
import { compiledProgram } from '../../support/process.ts'
import { namesOf } from '../../support/services.ts'
import { type Dice, diceOf, oneOf, people } from '../model/drift.ts'

/** The options of a child process. */
export interface ChildOrders {
  readonly uri: string
  readonly database: string
  readonly role: 'TRAFFIC' | 'RECONCILE'
  readonly seed: number
  /** One user for each writer. Only this writer changes the user's follows. */
  readonly owned: readonly UserId[]
  readonly posts: readonly PostRef[]
  /** The child dies right before it sends this write, counted from 1. */
  readonly diesAt?: number
}

/**
 * The last acknowledged state of each pair that only one writer changes. Null: the outcome of a
 * write is unknown.
 */
export type Account = readonly (readonly [pair: string, follows: boolean | null])[]

const program = compiledProgram('reconcile-child')
const engagement = sameLimits({ threshold: 3, capacity: 2 })
const writes = new Set(['insert', 'update', 'delete', 'findAndModify', 'commitTransaction'])

// A process that prints a line when it is ready, and begins when it receives a line. With RECONCILE
// it reconciles without end and prints each run's report. With TRAFFIC it writes at random until
// the next line, and then prints its account.
if (process.argv[1] === program) await main(JSON.parse(process.argv[2] ?? '') as ChildOrders)

async function main(orders: ChildOrders): Promise<void> {
  const { uri, database, diesAt } = orders
  const client = await connect(uri, 'serving', { monitorCommands: true })
  const services = createServices(client, client.db(database), { ...readConfig({}), engagement })
  const lines = createInterface({ input: process.stdin })
  const line = () => new Promise<void>((resolve) => void lines.once('line', () => resolve()))
  const begin = line()
  console.log('ready')
  await begin
  if (orders.role === 'TRAFFIC') {
    const account = await traffic(services, orders, line())
    await client.close()
    lines.close()
    console.log(JSON.stringify(account))
    return
  }
  let sent = 0
  client.on('commandStarted', ({ commandName }) => {
    if (writes.has(commandName) && ++sent === diesAt) process.kill(process.pid, 'SIGKILL')
  })
  for (;;) {
    const report = new Report()
    await unlessRefused(reconcile(services, { readers: 'all' }, report))
    console.log(JSON.stringify(report))
    await sleep(10)
  }
}

/** Runs eight writers and a worker until `stop` resolves. */
async function traffic(
  services: Services,
  { owned, posts, seed }: ChildOrders,
  stop: Promise<void>,
): Promise<Account> {
  const options = { concurrency: 4, pollMs: 50, leaseMs: 5_000 }
  const worker = new Worker(services.queue, services.tasks, pino({ level: 'silent' }), options)
  worker.start()
  const account = new Map<string, boolean | null>()
  const known = [...posts]
  let stopped = false
  void stop.then(() => {
    stopped = true
  })
  const writer = async (own: UserId, n: number) => {
    const dice = diceOf(seed * 100 + n)
    while (!stopped) {
      if (dice(2) === 0) await ownWrite(services, own, dice, account)
      else await unlessRefused(anyWrite(services, known, dice))
      await sleep(50 + dice(150))
    }
  }
  await Promise.all(owned.map(writer))
  await worker.stop()
  return [...account]
}

async function ownWrite(
  { follows }: Services,
  own: UserId,
  dice: Dice,
  account: Map<string, boolean | null>,
): Promise<void> {
  const to = oneOf(
    [...people.owners, ...people.stars].filter((one) => one !== own),
    dice,
  )
  const begins = dice(3) > 0
  const done = await unlessRefused(begins ? follows.follow(own, to) : follows.unfollow(own, to))
  account.set(`${own}>${to}`, done ? begins : null)
}

async function anyWrite(services: Services, posts: PostRef[], dice: Dice): Promise<unknown> {
  const { users, follows, restrictions, engagements } = services
  const { wild, stars, owners, still } = people
  const one = oneOf(wild, dice)
  const other = oneOf(
    wild.filter((each) => each !== one),
    dice,
  )
  const post = oneOf(posts, dice)
  const kind = oneOf(['likes', 'shares'] as const, dice)
  const fan = oneOf([...stars, ...owners], dice)
  switch (dice(20)) {
    case 0:
      return restrictions.block(one, other)
    case 1:
      return restrictions.unblock(one, other)
    case 2:
      return dice(3) === 0
        ? users.delete(one)
        : users.create(one, { ...namesOf(one), name: 'again' })
    case 3:
      return users.create(one, { ...namesOf(one), name: 'again' })
    case 4:
    case 5: {
      const author = oneOf([...wild, ...stars, ...owners], dice)
      return posts.push({ ...(await services.posts.create(author, { text: 'hello' })), author })
    }
    case 6:
      return services.posts.delete(post.author, post)
    case 7:
    case 8:
      return follows.follow(oneOf(still, dice), oneOf([...wild, ...stars], dice))
    case 9:
    case 10:
    case 11:
      return follows.unfollow(one, oneOf([other, ...stars, ...owners], dice))
    case 12:
    case 13:
      return engagements.remove(kind, fan, post)
    case 14:
    case 15:
      return engagements.add(kind, fan, post)
    default:
      return follows.follow(one, oneOf([other, other, ...stars, ...owners], dice))
  }
}

/**
 * Undefined if the work was refused, or collided for too long with drift or with the locks of a
 * killed process.
 */
async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DomainError || clientErrorOf(error)) return undefined
    throw error
  }
}

/** A child process. */
export interface Child {
  readonly process: ChildProcess
  /** Its output after the line that it is ready. */
  readonly lines: readonly string[]
  /** The signal that ended it; null if it exited. */
  readonly ended: Promise<NodeJS.Signals | null>
  readonly sendLine: () => void
}

const running = new Set<ChildProcess>()

/** Starts a child. @returns the child when it is ready and waits for its first line. */
export async function child(
  { uri, name }: TestDatabase,
  orders: Omit<ChildOrders, 'uri' | 'database'>,
): Promise<Child> {
  const all: ChildOrders = { ...orders, uri, database: name }
  const started = spawn(process.execPath, [program, JSON.stringify(all)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.add(started)
  // A write to a child that has just killed itself must not fail.
  started.stdin.on('error', () => {})
  const ended = once(started, 'close').then(([, signal]) => {
    running.delete(started)
    return signal
  })
  const output = createInterface({ input: started.stdout })
  await once(output, 'line')
  const lines: string[] = []
  output.on('line', (line) => lines.push(line))
  return { process: started, lines, ended, sendLine: () => started.stdin.write('\n') }
}

/**
 * Kills a process. The server ends its open transactions some seconds later.
 * @throws if the process has already exited.
 */
export async function kill({ process, ended }: Child): Promise<void> {
  process.kill('SIGKILL')
  const signal = await ended
  if (signal !== 'SIGKILL') throw new Error(`a child ended by itself: ${process.exitCode}`)
}

/** Kills all running children. */
export function endAll(): void {
  for (const one of running) one.kill('SIGKILL')
}
