import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** A mechanism of the server, with what it buys and what it costs. */
interface Mechanism {
  readonly name: string
  readonly buys: string
  /** Who misses it when it is gone. */
  readonly who: string
  /** Its files and folders. The longest path that contains a file decides where the file counts. */
  readonly paths: readonly string[]
  /** Tests, or benchmarks by name, that show what it buys. */
  readonly shownBy: readonly string[]
}

const mechanisms: readonly Mechanism[] = [
  {
    name: 'visibility',
    buys: 'one decision who sees what',
    who: 'viewers',
    paths: ['src/visibility'],
    shownBy: ['tests/e2e/blocks.test.ts', 'tests/laws/l6-mutants.test.ts'],
  },
  {
    name: 'the pipeline of pages',
    buys: 'exact pages of all lists',
    who: 'clients that page',
    paths: ['src/pages', 'src/db/pages.ts'],
    shownBy: ['tests/laws/l1-pages.test.ts'],
  },
  {
    name: 'strategies',
    buys: 'pages or posts that cost less',
    who: 'operators',
    paths: ['src/timeline/strategies', 'src/timeline/entries.ts', 'src/timeline/entry-reader.ts'],
    shownBy: ['tests/laws/l1-strategies.test.ts', 'feeds'],
  },
  {
    name: 'registrations',
    buys: 'one set of strategies for all processes',
    who: 'processes that differ',
    paths: ['src/timeline/registry', 'src/cli/timelines.ts'],
    shownBy: ['tests/laws/l1-registrations.test.ts'],
  },
  {
    name: 'deliveries and back-fills',
    buys: 'stored timelines without a gap',
    who: 'readers',
    paths: ['src/timeline/delivery'],
    shownBy: ['tests/laws/l1-races.test.ts', 'tests/laws/l4-deliveries.all.test.ts'],
  },
  {
    name: 'floors',
    buys: 'stored timelines that do not grow',
    who: 'operators',
    paths: ['src/timeline/delivery/sweep.ts', 'src/timeline/strategies/floor.ts'],
    shownBy: ['tests/laws/l4-retention.all.test.ts'],
  },
  {
    name: 'the log',
    buys: 'memory that is never old',
    who: 'readers',
    paths: ['src/memory', 'src/db/change-stream.ts', 'src/metrics/log.ts'],
    shownBy: ['tests/laws/l1-log.test.ts', 'reads'],
  },
  {
    name: 'tails; kept posts, accounts, relations',
    buys: 'pages that read counts alone; likes that read nothing',
    who: 'readers',
    paths: [
      'src/posts/tails.ts',
      'src/posts/kept-posts.ts',
      'src/users/kept-accounts.ts',
      'src/follows/kept-relations.ts',
      'src/follows/kept-restrictions.ts',
      'src/engagement/add-at-once.ts',
    ],
    shownBy: ['tests/laws/l1-kept.test.ts', 'tests/laws/l2-at-once.test.ts', 'reads'],
  },
  {
    name: 'the fast path',
    buys: 'timelines and polls without graphql-js; a post is rendered once',
    who: 'readers',
    paths: ['src/graphql/fast-path'],
    shownBy: ['tests/integration/planned-answers.test.ts', 'reads'],
  },
  {
    name: 'polls',
    buys: 'new posts without a gap, and an answer 304',
    who: 'clients that poll',
    paths: [
      'src/timeline/pages/watermark.ts',
      'src/timeline/pages/news.ts',
      'src/timeline/pages/poll-cursor.ts',
      'src/timeline/pages/pending.ts',
      'src/timeline/api/poll-cursors.ts',
      'src/graphql/not-modified.ts',
      'src/http/entity-tags.ts',
    ],
    shownBy: ['tests/laws/l7-polling.test.ts', 'reads'],
  },
  {
    name: 'outlier lists',
    buys: 'likes at one price at any size',
    who: 'popular posts',
    paths: [
      'src/engagement/commit-entries.ts',
      'src/engagement/list-limits.ts',
      'src/engagement/list-plan.ts',
      'src/engagement/list-store.ts',
      'src/engagement/reader.ts',
    ],
    shownBy: ['tests/laws/l2-engagement.test.ts', 'engagement'],
  },
  {
    name: 'transactions',
    buys: 'all of a write or nothing, within 8 s',
    who: 'writers',
    paths: [
      'src/db/transaction.ts',
      'src/db/deadline.ts',
      'src/db/errors.ts',
      'src/db/lifetime.ts',
    ],
    shownBy: ['tests/integration/transaction.test.ts'],
  },
  {
    name: 'group commit, its gather, shared reads',
    buys: 'one command for what arrives together',
    who: 'everyone under load',
    paths: ['src/db/group-commit.ts', 'src/db/shared-reads.ts'],
    shownBy: ['tests/unit/group-commit.test.ts', 'engagement'],
  },
  {
    name: 'shared transactions, turns',
    buys: 'one transaction for writes of a hot key, or of 16 keys',
    who: 'hot posts and accounts',
    paths: ['src/db/shared-transactions.ts', 'src/db/collisions.ts'],
    shownBy: ['tests/integration/like-turns.test.ts', 'processes'],
  },
  {
    name: 'batches of follows',
    buys: 'one write a collection for 16 follows',
    who: 'writers',
    paths: [
      'src/follows/commit-follows.ts',
      'src/follows/decide-follow.ts',
      'src/follows/last-events.ts',
    ],
    shownBy: ['tests/integration/spread-follows.test.ts', 'follows'],
  },
  {
    name: 'idempotency',
    buys: 'a repeated mutation takes effect once',
    who: 'clients without an answer',
    paths: ['src/db/idempotency.ts'],
    shownBy: ['tests/laws/l4-idempotency.test.ts'],
  },
  {
    name: 'jobs: outbox, lease, ranges, worker',
    buys: 'work that outlives its process',
    who: 'deliveries, removals',
    paths: ['src/jobs', 'src/cli/jobs.ts', 'src/cli/worker.ts'],
    shownBy: ['tests/laws/l4-faults.all.test.ts', 'tests/laws/l4-ranges.test.ts'],
  },
  {
    name: 'deadlines',
    buys: 'an answer in time, and no command after it',
    who: 'clients of a slow database',
    paths: ['src/db/request-time.ts', 'src/http/request-time.ts', 'src/http/deadlines.ts'],
    shownBy: ['tests/e2e/request-time.test.ts', 'tests/integration/deadlines.all.test.ts'],
  },
  {
    name: 'measured and ending connections',
    buys: 'failed commands end at once; metrics of commands',
    who: 'everyone in a failover',
    paths: [
      'src/db/measured-connection.ts',
      'src/db/ending-connection.ts',
      'src/db/connection-metrics.ts',
      'src/db/driver-connection.d.ts',
    ],
    shownBy: ['tests/integration/ended-sockets.test.ts'],
  },
  {
    name: 'slow clients',
    buys: 'bounded time and memory of a connection',
    who: 'everyone under attack',
    paths: ['src/http/slow-readers.ts', 'src/http/slow-senders.ts', 'src/http/pipelining.ts'],
    shownBy: ['tests/e2e/slow-senders.test.ts', 'tests/e2e/slow-readers.test.ts'],
  },
  {
    name: 'overload queue',
    buys: 'answers at the limit, and early refusals',
    who: 'everyone at the limit',
    paths: ['src/http/overload.ts', 'src/http/request-queue.ts', 'src/http/concurrency-limit.ts'],
    shownBy: ['tests/e2e/overload.test.ts', 'overload'],
  },
  {
    name: 'stop and drain',
    buys: 'restarts that lose no request',
    who: 'operators',
    paths: ['src/http/open-requests.ts', 'src/http/readiness.ts', 'src/cli/run-until-signal.ts'],
    shownBy: ['tests/e2e/rolling-restart.all.test.ts'],
  },
  {
    name: 'prices, limits of documents',
    buys: 'bounded work of a request',
    who: 'public APIs',
    paths: [
      'src/graphql/check-document.ts',
      'src/graphql/cost-plugin.ts',
      'src/graphql/cost.ts',
      'src/graphql/document-size.ts',
      'src/graphql/limits.ts',
      'src/graphql/merged-fields.ts',
      'src/graphql/prices.ts',
      'src/graphql/read-documents.ts',
    ],
    shownBy: ['tests/laws/l5-cost.test.ts', 'documents'],
  },
  {
    name: 'rate limits',
    buys: 'bounded work of a client',
    who: 'public APIs',
    paths: ['src/graphql/rate-limit.ts', 'src/lib/token-buckets.ts', 'src/db/rate-limits.ts'],
    shownBy: ['tests/e2e/limits.test.ts', 'tests/e2e/shared-rate-limits.test.ts'],
  },
  {
    name: 'persisted and trusted documents',
    buys: 'short requests; no queries but your own',
    who: 'clients, operators',
    paths: [
      'packages/documents',
      'src/graphql/named-documents.ts',
      'src/graphql/persisted-documents.ts',
      'src/graphql/trusted-documents.ts',
    ],
    shownBy: ['tests/e2e/trusted-documents.test.ts', 'tests/e2e/persisted-queries.test.ts'],
  },
  {
    name: 'keys and verified tokens in memory',
    buys: 'one fetch of keys in 30 s, one check a token',
    who: 'everyone under attack',
    paths: [
      'src/graphql/fetch-keys.ts',
      'src/graphql/key-set.ts',
      'src/graphql/key-sets.ts',
      'src/graphql/published-keys.ts',
      'src/graphql/verified-tokens.ts',
      'src/graphql/hmac.ts',
    ],
    shownBy: ['tests/laws/l5-sign-in.test.ts'],
  },
  {
    name: 'clock of the database',
    buys: 'ids and expiries that no host decides',
    who: 'hosts with wrong clocks',
    paths: ['src/db/clock.ts'],
    shownBy: ['tests/integration/clock.test.ts', 'tests/e2e/wrong-clock.test.ts'],
  },
  {
    name: 'waits for what is visible',
    buys: 'no read older than an acknowledged write',
    who: 'elections, shards',
    paths: ['src/db/client.ts', 'src/db/causal-connection.ts'],
    shownBy: ['tests/integration/elections.all.test.ts', 'tests/integration/causal-jobs.test.ts'],
  },
  {
    name: 'shard plan',
    buys: 'commands to one shard',
    who: 'sharded clusters',
    paths: ['packages/shard'],
    shownBy: ['tests/integration/sharded-cluster.all.test.ts', 'tests/explained/targeted.test.ts'],
  },
  {
    name: 'integrity: invariants, shapes',
    buys: 'damage is repaired under traffic',
    who: 'operators',
    paths: [
      'src/integrity',
      'src/db/shape.ts',
      'src/db/shapes.ts',
      'src/cli/integrity.ts',
      'src/cli/reconcile.ts',
      'src/cli/verify.ts',
    ],
    shownBy: ['tests/integration/damage.test.ts', 'reconcile'],
  },
  {
    name: 'migrations',
    buys: 'upgrades in place',
    who: 'operators',
    paths: ['src/db/migrations', 'src/db/schema-version.ts', 'src/cli/migrate.ts'],
    shownBy: ['tests/integration/mixed-releases.all.test.ts'],
  },
  {
    name: 'names: handles, subjects, look-alikes',
    buys: 'one account a name, no look-alikes',
    who: 'users',
    paths: [
      'src/users/former-handles.ts',
      'src/users/handle-desk.ts',
      'src/users/handles.ts',
      'src/users/look-alikes.ts',
      'src/users/names.ts',
      'src/users/open-accounts.ts',
      'src/users/subjects.ts',
      'src/users/technical-names.ts',
      'src/cli/handles.ts',
    ],
    shownBy: ['tests/laws/l6-claims.test.ts', 'tests/unit/names.test.ts'],
  },
  {
    name: 'removal of accounts',
    buys: 'nothing of a deleted account is left',
    who: 'users',
    paths: [
      'src/users/deletion.ts',
      'src/follows/purge.ts',
      'src/engagement/orphaned.ts',
      'src/posts/tombstones.ts',
    ],
    shownBy: ['tests/integration/purge.test.ts', 'tests/laws/l6-accounts.test.ts'],
  },
  {
    name: 'imports',
    buys: 'a graph in minutes, resumable',
    who: 'operators',
    paths: ['packages/import'],
    shownBy: ['tests/integration/import.all.test.ts', 'scale'],
  },
  {
    name: 'metrics, traces, log of requests',
    buys: 'the reason of a slow request',
    who: 'operators',
    paths: [
      'src/metrics',
      'src/tracing',
      'src/log.ts',
      'src/http/request-log.ts',
      'src/http/request-trace.ts',
    ],
    shownBy: ['tests/integration/metrics.test.ts', 'overload'],
  },
  {
    name: 'embedded MongoDB',
    buys: 'a start without a database',
    who: 'developers',
    paths: ['packages/mongod'],
    shownBy: ['tests/integration/embedded.all.test.ts'],
  },
]

const root = join(import.meta.dirname, '..')
const head = ['mechanism', 'what it buys', 'who misses it', 'lines', 'shown by']

/**
 * The table of mechanisms. A figure of lines is rounded to tens. A committed one stays while the
 * count differs by at most a tenth, or by 20 lines, so that few changes make it stale.
 * @param committed the document with the table.
 * @throws {Error} if a path of a mechanism does not exist.
 */
export async function mechanismTable(committed: string): Promise<readonly (readonly string[])[]> {
  const counts = await countLines()
  const figure = (name: string) =>
    formatLines(counts.get(name) ?? 0, committedLines(committed, name))
  return [
    head,
    ...mechanisms.map(({ name, buys, who, shownBy }) => [
      name,
      buys,
      who,
      figure(name),
      shownBy.map(nameOfProof).join(', '),
    ]),
    [others, '', '', figure(others), ''],
  ]
}

const others = 'everything else: features, API, tools'

/** The lines of src and packages by mechanism. Each file counts once. */
async function countLines(): Promise<ReadonlyMap<string, number>> {
  const owners = mechanisms
    .flatMap(({ name, paths }) => paths.map((path) => ({ name, path })))
    .sort((a, b) => b.path.length - a.path.length)
  const counts = new Map<string, number>()
  const used = new Set<string>()
  for (const file of await findSources()) {
    const owner = owners.find(({ path }) => file === path || file.startsWith(`${path}/`))
    if (owner) used.add(owner.path)
    const name = owner?.name ?? others
    const lines = (await readFile(join(root, file), 'utf8')).trimEnd().split('\n').length
    counts.set(name, (counts.get(name) ?? 0) + lines)
  }
  const empty = owners.find(({ path }) => !used.has(path))
  if (empty) throw new Error(`scripts/mechanisms.ts: ${empty.path} has no file`)
  return counts
}

/** The TypeScript files of the server and its packages, with "/" between folders. */
async function findSources(): Promise<string[]> {
  const folders = await Promise.all(
    ['src', 'packages'].map(async (folder) => {
      const files = await readdir(join(root, folder), { recursive: true })
      return files.map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    }),
  )
  return folders.flat().filter((file) => file.endsWith('.ts') && !file.includes('/node_modules/'))
}

function committedLines(document: string, name: string): number | undefined {
  const row = document.split('\n').find((line) => line.startsWith(`| ${name} |`))
  const figure = row?.split(' | ').at(-2)?.replaceAll(',', '')
  return figure && /^\d+$/.test(figure) ? Number(figure) : undefined
}

function formatLines(counted: number, committed = Number.NaN): string {
  const isRight = Math.abs(counted - committed) <= Math.max(20, counted / 10)
  return (isRight ? committed : Math.round(counted / 10) * 10).toLocaleString('en')
}

/** A test is shown by the name of its file, a benchmark by its own. */
function nameOfProof(proof: string): string {
  const isTest = proof.startsWith('tests/')
  if (!existsSync(join(root, isTest ? proof : `bench/${proof}`))) {
    throw new Error(`scripts/mechanisms.ts: ${proof} does not exist`)
  }
  return isTest
    ? `\`${basename(proof).replace(/(?:\.all)?\.test\.ts$/, '')}\``
    : `bench \`${proof}\``
}
