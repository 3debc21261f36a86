import { connect } from '../../src/db/client.ts'
import { readConfig } from '../../src/environment.ts'
import { reconcile } from '../../src/integrity/run.ts'
import { createServices } from '../../src/services.ts'

/** The result that the process prints as JSON. */
export interface ReconcileResult {
  readonly seconds: number
  readonly documents: number
  readonly drifted: number
  readonly repaired: number
  readonly remaining: number
  /** The peak memory of the process, in megabytes. */
  readonly megabytes: number
}

// A process that reconciles a database once. Arguments: URI, database.
const [, , uri, name] = process.argv
if (uri && name) {
  const client = await connect(uri, 'bulk')
  const services = createServices(client, client.db(name), readConfig({}))
  const startedAt = performance.now()
  const { checked, byKind, repaired, remaining } = await reconcile(services, { readers: 'all' })
  // Each edge in each collection, and at both ends.
  const documents = 4 * checked.edges + checked.users + checked.posts + checked.engagements
  const counters = ['followers', 'following', 'posts'].map((name) => byKind[`L3 ${name}`] ?? 0)
  const drifted = counters.reduce((sum, count) => sum + count, 0)
  const result: ReconcileResult = {
    ...{ documents, drifted, repaired, remaining },
    seconds: (performance.now() - startedAt) / 1000,
    megabytes: Math.round(process.resourceUsage().maxRSS / 1024),
  }
  console.log(JSON.stringify(result))
  await client.close()
}
