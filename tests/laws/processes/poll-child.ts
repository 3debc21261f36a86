import 'reflect-metadata'
import { Db } from 'mongodb'
import { pino } from 'pino'
import { startApp } from '../../../src/app.ts'
import { connect } from '../../../src/db/client.ts'
import { DatabaseClock } from '../../../src/db/clock.ts'
import { readConfig } from '../../../src/environment.ts'
import { Worker } from '../../../src/jobs/worker.ts'
import { createServices } from '../../../src/services.ts'
import { type PollFault, pollFaults } from '../model/poll-faults.ts'

/** The options of a child process. */
export interface PollOrders {
  readonly env: Readonly<Record<string, string>>
  /** How far the clock of the database is ahead as this process measures it, in milliseconds. */
  readonly skewMs: number
  /** How far the clock of this host is ahead, in milliseconds. */
  readonly hostSkewMs: number
  /** The options of a worker. Undefined for a server. */
  readonly worker?: { readonly concurrency: number; readonly leaseMs: number }
  /** A fault of a server, which law L7 must find. */
  readonly fault?: PollFault | undefined
}

// A server that prints its address, or a worker that prints a line. Each runs until it is killed.
if (process.argv[2]) await main(JSON.parse(process.argv[2]) as PollOrders)

async function main({ env, skewMs, hostSkewMs, worker, fault }: PollOrders): Promise<void> {
  const config = readConfig(env)
  const log = pino({ level: 'warn' }, process.stderr)
  const wall = Date.now.bind(Date)
  Date.now = () => wall() + hostSkewMs
  skewDatabaseClock(skewMs)
  if (worker) {
    const client = await connect(env.MONGODB_URI ?? '')
    const clock = await DatabaseClock.start(client, () => {})
    const db = client.db(env.MONGODB_DATABASE)
    const services = createServices(client, db, config, { now: clock.now })
    const { queue, tasks } = services
    new Worker(queue, tasks, log, { ...worker, pollMs: 20 }).start()
    console.log('ready')
    return
  }
  const { url, services } = await startApp(config, log)
  if (fault) pollFaults[fault](services)
  console.log(url)
}

/**
 * Makes this process measure a wrong clock of the database, as it would over a slow network in one
 * direction.
 */
function skewDatabaseClock(ms: number): void {
  const { command } = Db.prototype
  Db.prototype.command = async function (asked, options) {
    const answer = await command.call(this, asked, options)
    if (!('hello' in asked) || !(answer.localTime instanceof Date)) return answer
    return { ...answer, localTime: new Date(answer.localTime.getTime() + ms) }
  }
}
