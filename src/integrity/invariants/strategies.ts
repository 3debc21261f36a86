import type { CelebrityDoc, StrategyDoc } from '../../db/collections.ts'
import type { IntegrityServices, Invariant, Violation } from '../invariant.ts'

interface StrategyViolation extends Violation {
  readonly strategy: StrategyDoc
}

/**
 * Law L1: a strategy that does not cover all readers has a job that fills their timelines. Until then their pages come
 * from FANOUT_ON_READ. The repair inserts the job. A recheck is two commands.
 */
export const unfinishedStrategies = ({
  collections: { strategies, outbox },
  outbox: jobs,
}: IntegrityServices): Invariant<object, StrategyDoc, StrategyViolation> => ({
  scan: () => strategies.find({ complete: false, dropping: { $exists: false } }),
  async recheck(some, at) {
    const names = { _id: { $in: some.map(({ _id }) => _id) }, dropping: { $exists: false } }
    const open = await strategies.find({ ...names, complete: false }, { ...at }).toArray()
    const found = await outbox.find({ kind: 'strategy.backfill' }, { ...at }).toArray()
    const epochs = new Set(found.map(({ payload }) => payload.epoch))
    const left = open.filter(({ epoch }) => !epochs.has(epoch.toHexString()))
    const [expected, none] = ['a job that fills the timelines of all readers', 'none']
    const violations = left.map((strategy) => ({
      strategy,
      finding: {
        ...{ law: 'L1' as const, kind: 'backfill', subject: strategy._id, expected, found: none },
      },
    }))
    return { violations, inFlight: open.length - left.length }
  },
  async repair(tx, violations) {
    const all = violations.map(({ strategy: { _id: strategy, epoch } }) => {
      const payload = { strategy, epoch: epoch.toHexString() }
      return jobs.promise(tx, 'strategy.backfill', payload, { lane: 'BULK' })
    })
    await jobs.keep(tx, all)
  },
})

interface CelebrityViolation extends Violation {
  readonly celebrity: CelebrityDoc
  readonly problem: 'GONE' | 'NO_JOB'
}

/**
 * Law L1: an author that HYBRID reads instead of delivering has an account. An author that HYBRID delivers again has a job
 * that delivers the posts that were left out. The scan reads all such authors, a recheck is three commands.
 */
export const celebrityMarks = ({
  collections: { celebrities, strategies, users, outbox },
  outbox: jobs,
}: IntegrityServices): Invariant<object, CelebrityDoc, CelebrityViolation> => ({
  scan: () =>
    celebrities.aggregate<CelebrityDoc>([
      {
        $lookup: { from: users.collectionName, localField: '_id', foreignField: '_id', as: 'user' },
      },
      { $match: { $or: [{ user: { $size: 0 } }, { falling: { $exists: true } }] } },
      { $unset: 'user' },
    ]),
  async recheck(some, at) {
    const among = { _id: { $in: some.map(({ _id }) => _id) } }
    const standing = await celebrities.find(among, { ...at }).toArray()
    const accounts = await users.find(among, { ...at, projection: { _id: 1 } }).toArray()
    const known = new Set(accounts.map(({ _id }) => _id))
    const found = await outbox.find({ kind: 'author.fell' }, { ...at }).toArray()
    const falls = new Set(found.map(({ payload }) => payload.fall))
    const violations = standing.flatMap((celebrity): CelebrityViolation[] => {
      const { _id: subject, falling } = celebrity
      const wrong = (problem: CelebrityViolation['problem'], expected: string, found: string) => [
        {
          celebrity,
          problem,
          finding: { law: 'L1' as const, kind: 'mark', subject, expected, found },
        },
      ]
      if (!known.has(subject)) return wrong('GONE', 'no mark without an account', 'a mark')
      if (!falling || falls.has(falling.toHexString())) return []
      return wrong('NO_JOB', 'a job that delivers what was left out', 'none')
    })
    const inFlight = standing.filter(({ falling }) => falling).length
    return { violations, inFlight: inFlight - violations.filter(isUnfinished).length }
  },
  async repair(tx, violations) {
    const gone = violations.filter(({ problem }) => problem === 'GONE')
    const marks = { _id: { $in: gone.map(({ celebrity }) => celebrity._id) } }
    if (gone.length > 0) {
      const { session } = tx
      await celebrities.deleteMany(marks, { session })
      await strategies.updateOne({ _id: 'HYBRID' }, { $inc: { marks: 1 } }, { session })
    }
    const unfinished = violations.filter(({ problem }) => problem === 'NO_JOB')
    const all = unfinished.map(({ celebrity: { _id: author, falling } }) => {
      const payload = { author, fall: falling?.toHexString() }
      return jobs.promise(tx, 'author.fell', payload, { lane: 'BULK' })
    })
    if (all.length > 0) await jobs.keep(tx, all)
  },
})

const isUnfinished = ({ celebrity }: CelebrityViolation) => celebrity.falling !== undefined
