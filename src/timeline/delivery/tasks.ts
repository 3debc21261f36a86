import { type KeyRange, type RangeJobs, rangeKind } from '../../jobs/ranges.ts'
import type { Task } from '../../jobs/runner.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { MaterialisedName } from '../strategies/list.ts'
import type { Backfill, Pair, StrategyFill } from './backfill.ts'
import type { Delivery } from './delivery.ts'
import type { Walked } from './follower-walk.ts'
import { timelineReactions } from './job-kinds.ts'
import type { Sweep } from './sweep.ts'

type Payload = Readonly<Record<string, unknown>>

const postCreated = timelineReactions['post.created']
const postDeleted = timelineReactions['post.deleted']
const followCreated = timelineReactions['follow.created']
const followEnded = timelineReactions['follow.ended']

/** The kinds of jobs that are split into ranges when they are long. */
type SplitJob = typeof postCreated | typeof postDeleted | 'strategy.backfill' | 'timelines.sweep'

/**
 * The kinds of jobs that maintain stored timelines: reactions to events, and jobs that timelines
 * enqueue.
 */
export type TimelineJob = typeof followCreated | typeof followEnded | SplitJob | `${SplitJob}.range`

/** The parts of {@link timelineTasks}. */
export interface TimelineTaskParts {
  readonly delivery: Delivery
  readonly backfill: Backfill
  readonly ranges: RangeJobs
  readonly sweep: Sweep
}

/** The tasks that maintain stored timelines. Each may be repeated, and then changes nothing. */
export const timelineTasks = ({
  delivery,
  backfill,
  ranges,
  sweep,
}: TimelineTaskParts): Readonly<Record<TimelineJob, Task>> => {
  const deliver: SplitTask = (payload, run, range) =>
    delivery.deliverPost(parsePost(payload), run, range)
  const retract: SplitTask = (payload, run, range) =>
    delivery.retract(parsePost(payload), run, range)
  return {
    [postCreated]: Object.assign((...[payload, run]: Parameters<Task>) => deliver(payload, run), {
      batchSize: 32,
    }),
    [rangeKind(postCreated)]: ranges.createTask(deliver),
    [postDeleted]: (payload, run) => retract(payload, run),
    [rangeKind(postDeleted)]: ranges.createTask(retract),
    [followCreated]: Object.assign(
      (...[payload, run]: Parameters<Task>) => backfill.addFollowee(parsePair(payload), run),
      { batchSize: 32 },
    ),
    [followEnded]: async (payload, run) => backfill.removeFollowee(parsePair(payload), run),
    'strategy.backfill': async (payload, run) => backfill.fillStrategy(parseFill(payload), run),
    'strategy.backfill.range': ranges.createTask(async (payload, run, range) =>
      backfill.fillRange(parseFill(payload), run, range),
    ),
    'timelines.sweep': async (_, run) => sweep.removeOld(run),
    'timelines.sweep.range': ranges.createTask(async (_, run, range) =>
      sweep.removeOld(run, range),
    ),
  }
}

/** Does the work of a job, or of one of its ranges. */
type SplitTask = (...given: [...Parameters<Task>, range?: KeyRange]) => Promise<Walked>

const parseFill = ({ strategy, epoch }: Payload): StrategyFill => ({
  strategy: strategy as MaterialisedName,
  epoch: epoch as PostId,
})

const parsePost = ({ author, post }: Payload): PostRef => ({
  author: author as UserId,
  id: post as PostId,
})

const parsePair = ({ follower, followee }: Payload): Pair => ({
  follower: follower as UserId,
  followee: followee as UserId,
})
