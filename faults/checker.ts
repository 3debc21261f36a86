import { type Check, judge } from './check.ts'
import { checkPost } from './check-post.ts'
import { checkTimelines } from './check-timelines.ts'
import { checkUser } from './check-user.ts'
import type { Journal } from './journal.ts'
import { Lists } from './lists.ts'
import type { Model } from './model.ts'
import type { Processes } from './processes.ts'

/** How many users or posts are checked at the same time. */
const together = 6

/**
 * Compares everything that can be read with what was acknowledged, at rest: users, lists, counters, and the
 * timelines of every strategy, walked both ways. Then `feedline verify` looks at the database itself.
 * The model takes over what was found, so that the next check reports nothing twice.
 */
export async function checkAtRest(
  model: Model,
  journal: Journal,
  processes: Processes,
): Promise<void> {
  const edges = { following: new Set<string>(), followers: new Set<string>() }
  const check: Check = { model, journal, lists: new Lists(processes.urls), edges }
  const users = [...model.users.values()]
  // Who lives decides what else must exist.
  await each(users, async (user) => {
    const variables = { handle: user.handle }
    const document = 'query($handle: String!) { user(handle: $handle) { handle } }'
    const found = (await check.lists.query({ document, variables })).user !== null
    judge(check, user.live, found, `the account ${user.handle}`)
  })
  await each(users, (user) => checkUser(check, user))
  compareEdges(check)
  await each([...model.posts.values()], (post) => checkPost(check, post))
  await each(users, (user) => checkTimelines(check, user))
  await verify(processes, journal)
}

/** Reports each edge that only one of its ends lists. */
function compareEdges({ journal, edges: { following, followers } }: Check): void {
  const oneSided = [...following, ...followers].filter(
    (edge) => !following.has(edge) || !followers.has(edge),
  )
  for (const edge of oneSided) {
    journal.violate('drift', performance.now(), `one end alone lists the follow ${edge}`)
  }
}

async function verify(processes: Processes, journal: Journal): Promise<void> {
  const { code, out } = await processes.run(['verify', '--readers', 'all', '--json'])
  const report = parsed(out)
  if (!report) journal.violate('drift', performance.now(), `feedline verify ended with ${code}`)
  const differences = report?.sample.filter(({ harmless }) => !harmless) ?? []
  for (const { law, kind, subject, expected, found } of differences) {
    const detail = `verify: ${law} ${kind} ${subject}: expected ${expected}; found ${found}`
    journal.violate('drift', performance.now(), detail)
  }
  if (report && report.differences > 0 && differences.length === 0) {
    journal.violate('drift', performance.now(), `verify: ${report.differences} differences`)
  }
  journal.leftovers = report?.harmless ?? 0
}

/** What `feedline verify --json` prints. */
interface Verified {
  readonly differences: number
  /** Entries of stored timelines that no reader sees. */
  readonly harmless: number
  readonly sample: readonly Readonly<Record<string, string>>[]
}

function parsed(out: string): Verified | undefined {
  try {
    return JSON.parse(out.trim().split('\n').at(-1) ?? '')
  } catch {
    return undefined
  }
}

async function each<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const one = async () => {
    for (const item of left) await run(item)
  }
  await Promise.all(Array.from({ length: together }, one))
}
