import { pino } from 'pino'
import { connect } from '../../../src/db/client.ts'
import { readConfig } from '../../../src/environment.ts'
import { Worker } from '../../../src/jobs/worker.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import { createServices } from '../../../src/services.ts'

/** The options of a child process. */
export interface DeliveryOrders {
  readonly env: Readonly<Record<string, string>>
  /** The child posts as these authors in turn, without end. Without authors, it only runs jobs. */
  readonly authors: readonly UserId[]
  readonly leaseMs: number
  /** The pause after each post, in milliseconds. */
  readonly pauseMs: number
}

// A process that runs jobs, and publishes posts if it has authors, until it is killed. It prints a
// line for each acknowledged post.
if (process.argv[2]) await main(JSON.parse(process.argv[2]) as DeliveryOrders)

async function main({ env, authors, leaseMs, pauseMs }: DeliveryOrders) {
  const config = readConfig({ FANOUT_INLINE_MAX: '200', ...env })
  const client = await connect(env.MONGODB_URI ?? '')
  const db = client.db(env.MONGODB_DATABASE)
  const services = createServices(client, db, config)
  const log = pino({ level: 'silent' })
  const options = { concurrency: 4, pollMs: 100, leaseMs }
  new Worker(services.queue, services.tasks, log, options).start()
  console.log('ready')
  if (authors.length === 0) return
  services.inline.start(services.tasks, log)
  for (let at = 0; ; at++) {
    const author = authors[at % authors.length] as UserId
    try {
      const { id } = await services.posts.create(author, { text: `post ${at}` })
      console.log(JSON.stringify({ id, author }))
    } catch {
      // The transaction of a killed process locks the author's counters until the server ends it.
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
