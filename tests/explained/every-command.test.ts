import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BSON, type Db, type Document } from 'mongodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../support/mongo.ts'
import { explained } from './statements/explain.ts'
import { fill, hot, hotIds } from './statements/large-database.ts'
import { aboutLarge, valuesIn } from './statements/shape-values.ts'
import { type Shape, shapesFolder } from './statements/shapes.ts'

/**
 * Keys or documents that a statement may look at for each that it finds, for each value it names,
 * and beyond.
 */
const [eachFound, eachValue, beyond] = [20, 3, 50]

/** Source files whose commands read much on purpose, and why no request waits for them. */
const exempt: readonly { readonly from: RegExp; readonly why: string }[] = [
  {
    from: /^src\/integrity\//,
    why: '`verify` and `reconcile` read everything, for an operator',
  },
  { from: /^(src\/cli|packages\/(import|capacity))\//, why: 'an operator runs it' },
  {
    from: /^src\/timeline\/registry\/remove-stored\.ts$/,
    why: 'an operator drops what a strategy stores',
  },
  { from: /^src\/jobs\/inspect\.ts$/, why: 'an operator looks at all jobs' },
  {
    from: /^src\/db\/change-stream\.ts$/,
    why: 'a process follows the oplog, which has no index, by one stream',
  },
]

/** Collections that hold a handful of documents, whatever the database holds. */
const small = ['strategies', 'meta', 'imports']

/** Problems that are known, by the file that sends the command, and why they are none. */
const known: readonly {
  readonly from: string
  /** Default: every command that the file sends. */
  readonly command?: string
  readonly problem: RegExp
  readonly why: string
}[] = [
  {
    from: 'src/follows/suggestions.ts',
    command: 'aggregate',
    problem: /^(sorts in memory|looks at \d+ for \d+)$/,
    why: 'it counts the followees of 100 users, 10,000 follows at most, and sorts the counts',
  },
  {
    from: 'src/timeline/pages/pending.ts',
    command: 'aggregate',
    problem: /^looks at \d+ for \d+$/,
    why: 'it looks at a few keys for each author with waiting deliveries, 2,000 authors at most, and answers with those of the reader',
  },
  {
    from: 'src/timeline/strategies/sized-buckets.ts',
    problem: /^looks at \d+ for \d+$/,
    why: 'buckets may overlap, so it looks at a key, not a document, for each newer bucket of a reader',
  },
  ...['src/follows/follows.ts', 'src/timeline/delivery/reader-walk.ts'].map((from) => ({
    from,
    command: 'find',
    problem: /^looks at \d+ for [01]$/,
    why: 'a job that is split skips index keys, at most 500,000 in a command, to find where its ranges end',
  })),
  {
    from: 'src/timeline/strategies/bucket-reader.ts',
    problem: /^looks at \d+ for \d+$/,
    why: 'as sized-buckets.ts',
  },
]

const recorded: Shape[] = existsSync(shapesFolder)
  ? readdirSync(shapesFolder).map((file) =>
      BSON.EJSON.parse(readFileSync(join(shapesFolder, file), 'utf8')),
    )
  : []
const shapes = recorded.filter(({ waits }) => waits === undefined)

describe.each(['collection', 'reverse-index'] as const)('following by %s', (following) => {
  const database = useDatabase(following)
  const mine = shapes.filter((shape) => shape.following === following)

  beforeAll(async () => {
    await fill(database.collections)
  })

  const seen: Record<string, [Document, RegExp]> = {
    'a scan': [{ find: 'posts', filter: { text: 'x' } }, /^scans COLLSCAN of posts$/],
    'a scan of a clustered collection': [
      {
        delete: 'inbox',
        deletes: [{ q: { _id: { $in: hotIds.map((post) => ({ reader: hot, post })) } }, limit: 0 }],
      },
      /^scans .* of inbox$/,
    ],
    'a scan by a join': [
      {
        aggregate: 1,
        pipeline: [
          { $documents: [{ text: 'x' }] },
          { $lookup: { from: 'posts', localField: 'text', foreignField: 'text', as: 'posts' } },
        ],
        cursor: {},
      },
      /^scans \$lookup from posts$/,
    ],
    'a sort in memory': [
      { find: 'posts', filter: { author: hot }, sort: { text: 1 } },
      /^sorts in memory$/,
    ],
    'a range that holds little of what is wanted': [
      { find: 'posts', filter: { author: hot, text: 'none' } },
      /^looks at 1000 for 0$/,
    ],
  }
  test.each(Object.entries(seen))(
    'the explain check finds a statement with %s',
    async (_, [statement, problem]) => {
      expect(await problemOf(database.db, statement)).toMatch(problem)
    },
  )

  test('every recorded command uses an index and examines a bounded number of documents', async () => {
    const problems: string[] = []
    for (const shape of mine) {
      if ('insert' in shape.statement) continue
      if (exempt.some(({ from }) => from.test(shape.from))) continue
      const statement = aboutLarge(shape.statement)
      const problem = await problemOf(database.db, statement)
      const isKnown = known.some(
        ({ from, command, ...one }) =>
          from === shape.from &&
          (command === undefined || command in statement) &&
          one.problem.test(problem ?? ''),
      )
      if (problem && !isKnown) {
        problems.push(`${shape.from}: ${problem}: ${JSON.stringify(statement)}`)
      }
    }
    expect(problems).toEqual([])
  })
})

test('each known problem is of a file that exists', () => {
  const gone = known.filter(({ from }) => !existsSync(join(import.meta.dirname, '../..', from)))
  expect(gone).toEqual([])
})

test('every recorded read of a job waits for the transaction of the job', () => {
  const ofTasks = recorded.filter(
    ({ waits, from }) => waits !== undefined && from.startsWith('src/'),
  )
  expect(ofTasks.filter(({ waits }) => !waits)).toEqual([])
  const files = ofTasks.map(({ from }) => from)
  expect(files).toEqual(expect.arrayContaining(['src/timeline/delivery/delivery-facts.ts']))
})

test('the recorded commands include pages, deliveries, purges and jobs', () => {
  const sent = new Set(shapes.map(({ from, statement }) => `${from} ${Object.keys(statement)[0]}`))
  expect([...sent]).toEqual(
    expect.arrayContaining([
      'src/timeline/delivery/delivery-facts.ts aggregate',
      'src/timeline/strategies/inbox.ts find',
      'src/timeline/strategies/inbox.ts delete',
      'src/timeline/strategies/cache.ts update',
      'src/follows/edges.ts delete',
      'src/jobs/due-jobs.ts find',
      'src/engagement/commit-entries.ts update',
    ]),
  )
})

/** What is wrong with the way in which a statement finds what it is about. */
async function problemOf(db: Db, statement: Document): Promise<string | undefined> {
  const { scans, sorts, examined, returned } = await explained(db, statement)
  const scanned = scans.filter((what) => !small.some((name) => what.endsWith(` ${name}`)))
  if (scanned.length > 0) return `scans ${scanned}`
  if (sorts.length > 0) return 'sorts in memory'
  const allowed = eachFound * returned + eachValue * valuesIn(statement) + beyond
  return examined > allowed ? `looks at ${examined} for ${returned}` : undefined
}
