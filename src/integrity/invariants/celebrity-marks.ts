import type { CelebrityDoc } from '../../db/collections.ts'
import { wellFormed } from '../../db/shapes.ts'
import type { NewJob } from '../../jobs/outbox.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant, Violation } from '../invariant.ts'
import { findingOf } from '../report.ts'

const invariant = { name: 'celebrity-marks', law: 'L1' } as const

interface CelebrityViolation extends Violation {
  readonly celebrity: CelebrityDoc
  readonly problem: 'GONE' | 'NO_JOB'
}

/**
 * For each change of an author's delivery mode: the job that ends it, and the payload field with the id of the change.
 */
const changes = {
  promoting: { kind: 'author.promoted', payload: 'promotion' },
  demoting: { kind: 'author.demoted', payload: 'demotion' },
} as const

/**
 * Law L1: a celebrity of HYBRID has an account. A celebrity that is being promoted or demoted has the job that ends the
 * change. The scan reads all celebrities. A recheck is three commands.
 */
const celebrityMarks = ({
  collections: { celebrities, users, outbox },
  outbox: jobs,
}: IntegrityServices): Invariant<CelebrityDoc, CelebrityViolation> => ({
  ...invariant,
  ranges: [{}],
  scan: () =>
    celebrities.aggregate<CelebrityDoc>([
      { $match: wellFormed('celebrities') },
      {
        $lookup: { from: users.collectionName, localField: '_id', foreignField: '_id', as: 'user' },
      },
      {
        $match: {
          $or: [
            { user: { $size: 0 } },
            { promoting: { $exists: true } },
            { demoting: { $exists: true } },
          ],
        },
      },
      { $unset: 'user' },
    ]),
  async check(some, at) {
    const among = { _id: { $in: some.map(({ _id }) => _id) } }
    const marks = { ...among, ...wellFormed('celebrities') }
    const standing = await celebrities.find(marks, { ...at }).toArray()
    const accounts = await users.find(among, { ...at, projection: { _id: 1 } }).toArray()
    const known = new Set(accounts.map(({ _id }) => _id))
    const kinds = { $in: Object.values(changes).map(({ kind }) => kind) }
    const ends = { kind: kinds, ...wellFormed('outbox') }
    const found = await outbox.find(ends, { ...at }).toArray()
    const waiting = new Set(found.map(({ payload }) => payload.promotion ?? payload.demotion))
    const violations = standing.flatMap((celebrity): CelebrityViolation[] => {
      const { _id: subject } = celebrity
      const wrong = (problem: CelebrityViolation['problem'], expected: string, found: string) => [
        {
          celebrity,
          problem,
          finding: findingOf(invariant, { kind: 'mark', subject, expected, found }),
        },
      ]
      if (!known.has(subject)) return wrong('GONE', 'no mark without an account', 'a mark')
      const change = changeOf(celebrity)
      if (!change || waiting.has(change.id)) return []
      return wrong('NO_JOB', `a job ${change.kind}`, 'none')
    })
    const inFlight = standing.filter(changeOf).length
    return {
      violations,
      inFlight: inFlight - violations.filter(({ celebrity }) => changeOf(celebrity)).length,
    }
  },
  async repair(tx, violations) {
    const gone = violations.filter(({ problem }) => problem === 'GONE')
    const marks = { _id: { $in: gone.map(({ celebrity }) => celebrity._id) } }
    if (gone.length > 0) await celebrities.deleteMany(marks, { session: tx.session })
    const unfinished = violations.filter(({ problem }) => problem === 'NO_JOB')
    const changes = unfinished.flatMap(({ celebrity }): NewJob[] => {
      const change = changeOf(celebrity)
      if (!change) return []
      const payload = { author: celebrity._id, [change.payload]: change.id }
      return [{ kind: change.kind, payload, queue: 'BULK' }]
    })
    await jobs.enqueue(tx, changes)
  },
})

export const checkCelebrityMarks: Check = walk(celebrityMarks)

/** The unfinished change of an author's delivery mode. */
function changeOf({ promoting, demoting }: CelebrityDoc) {
  if (promoting) return { ...changes.promoting, id: promoting.toHexString() }
  return demoting && { ...changes.demoting, id: demoting.toHexString() }
}
