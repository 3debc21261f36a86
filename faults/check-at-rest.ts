import { type CheckContext, compareRegister } from './check.ts'
import { checkPost } from './check-post.ts'
import { checkTimelines } from './check-timelines.ts'
import { checkUser } from './check-user.ts'
import type { Journal } from './journal.ts'
import { ListReader } from './list-reader.ts'
import type { Model } from './model.ts'
import type { Processes } from './processes.ts'

/** The number of users or posts that are checked at the same time. */
const concurrency = 6

/**
 * Compares all readable data with the acknowledged operations: users, lists, counters, and the
 * timelines of each strategy in both directions. Then runs `feedline verify` on the database. No
 * client writes during the check. The model is set to the found data, so that the next check does
 * not report a violation again.
 */
export async function checkAtRest(
  model: Model,
  journal: Journal,
  processes: Processes,
): Promise<void> {
  const edges = { following: new Set<string>(), followers: new Set<string>() }
  const check: CheckContext = { model, journal, lists: new ListReader(processes.urls), edges }
  const users = [...model.users.values()]
  // First the accounts: whether the other data must exist depends on them.
  await forEach(users, async (user) => {
    const variables = { handle: user.handle }
    const document = 'query($handle: String!) { user(handle: $handle) { handle } }'
    const found = (await check.lists.sendQuery({ document, variables })).user !== null
    compareRegister(check, user.live, found, `the account ${user.handle}`)
  })
  await forEach(users, (user) => checkUser(check, user))
  compareEdges(check)
  await forEach([...model.posts.values()], (post) => checkPost(check, post))
  await forEach(users, (user) => checkTimelines(check, user))
  await runVerify(processes, journal)
}

/** Reports each edge that only one of its two lists shows. */
function compareEdges({ journal, edges: { following, followers } }: CheckContext): void {
  const oneSided = [...following, ...followers].filter(
    (edge) => !following.has(edge) || !followers.has(edge),
  )
  for (const edge of oneSided) {
    journal.recordViolation(
      'drift',
      performance.now(),
      `only one of both lists shows the follow ${edge}`,
    )
  }
}

async function runVerify(processes: Processes, journal: Journal): Promise<void> {
  const { code, out } = await processes.runCommand(['verify', '--readers', 'all', '--json'])
  const report = parseReport(out)
  if (!report)
    journal.recordViolation(
      'drift',
      performance.now(),
      `feedline verify printed no report and exited with ${code}`,
    )
  const differences = report?.sample ?? []
  for (const { law, kind, subject, expected, found } of differences) {
    const detail = `verify: ${law} ${kind} ${subject}: expected ${expected}; found ${found}`
    journal.recordViolation('drift', performance.now(), detail)
  }
  if (report && report.differences > 0 && differences.length === 0) {
    journal.recordViolation('drift', performance.now(), `verify: ${report.differences} differences`)
  }
}

/** The JSON output of `feedline verify --json`. */
interface VerifyReport {
  readonly differences: number
  readonly sample: readonly Readonly<Record<string, string>>[]
}

function parseReport(out: string): VerifyReport | undefined {
  try {
    return JSON.parse(out.trim().split('\n').at(-1) ?? '')
  } catch {
    return undefined
  }
}

async function forEach<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values()
  const runNext = async () => {
    for (const item of remaining) await run(item)
  }
  await Promise.all(Array.from({ length: concurrency }, runNext))
}
