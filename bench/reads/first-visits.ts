import { type LoadContext, measureLoad, type SideResults, warmUp } from './loads.ts'
import { shuffleReaders } from './mix-plan.ts'
import { loadNames, type Side } from './side.ts'

/** The number of requests of a new process that count as its first ones. */
const firstRequests = 100

/**
 * Measures pages of readers that the server has never seen, each asked for once. So what all readers share is warm, but
 * nothing of a reader is kept: a new server of Feedline first answers a hundred other visitors, then it is warmed up by the
 * readers, who are none of the visitors, and by some of the visitors. A rival keeps nothing of a reader, so its running
 * server answers.
 */
export async function measureFirstVisits(
  side: Side,
  context: LoadContext,
  round: number,
): Promise<SideResults> {
  const visitors = shuffleReaders(context.audience.visitors, round)
  const requests = visitors
    .map((reader) => side.page(reader, 'counts'))
    .filter((request) => request !== undefined)
  // A half of the others warms up the code of first visits, which other pages do not run.
  const half = Math.ceil((firstRequests + requests.length) / 2)
  const warming = requests.slice(firstRequests, half)
  const later = requests.slice(half)
  if (later.length < firstRequests) throw new Error('the graph has too few readers')
  const server = await side.startNew?.(visitors)
  const measureLater = async (visited: Side) => {
    const result = await measureLoad(visited, context, later, 200, later.length)
    context.log(`${side.name}: ${loadNames.firstVisit}, ${result.perSecond.toFixed(0)} per second`)
    return result
  }
  if (!server) return { firstVisit: await measureLater(side) }
  await using _ = server
  const fresh: Side = { ...side, server }
  const firstOnes = requests.slice(0, firstRequests)
  const first = await measureLoad(fresh, context, firstOnes, 200, firstOnes.length)
  // Pages of other readers only: a mix would also read pages of the visitors.
  await warmUp(fresh, { ...context, audience: { ...context.audience, visitors: [] } })
  await measureLoad(fresh, context, warming, 200, warming.length)
  return { firstRequests: first, firstVisit: await measureLater(fresh) }
}
