import { feedStrategyNames } from '../src/timeline/strategies/list.ts'

/** The names of Feedline's processes. */
export const serverNames = ['server-1', 'server-2'] as const
export const processNames = [...serverNames, 'worker'] as const
export type ProcessName = (typeof processNames)[number]

type Settings = Readonly<Record<string, string>>

/** All processes maintain all strategies, so that all are checked. */
const shared: Settings = { FEED_MAINTAINED: feedStrategyNames.join() }

/**
 * The settings that differ between processes. The servers, which may register a strategy, have low
 * limits, so that the data exceeds each limit.
 */
const perProcess: Readonly<Record<ProcessName, Settings>> = {
  'server-1': {
    FEED_STRATEGY: 'INBOX',
    TIMELINE_ENTRIES: 'author',
    TIME_BUCKET_DAYS: '0.01',
    CACHE_SIZE: '20',
    SIZED_BUCKET_SIZE: '5',
    CACHE_AWAY_DAYS: '30',
    FANOUT_INLINE_MAX: '0',
    OVERFLOW_THRESHOLD: '3',
  },
  'server-2': {
    FEED_STRATEGY: 'CACHE',
    TIMELINE_ENTRIES: 'text',
    TIME_BUCKET_DAYS: '0.02',
    CACHE_SIZE: '12',
    SIZED_BUCKET_SIZE: '8',
    CACHE_AWAY_DAYS: '20',
    FANOUT_INLINE_MAX: '200',
    OVERFLOW_THRESHOLD: '2',
  },
  worker: {
    FEED_STRATEGY: 'FANOUT_ON_READ',
    TIMELINE_ENTRIES: 'id',
    TIME_BUCKET_DAYS: '7',
    CACHE_SIZE: '50',
    SIZED_BUCKET_SIZE: '6',
    CACHE_AWAY_DAYS: '10',
    FANOUT_INLINE_MAX: '50',
    OVERFLOW_THRESHOLD: '1',
  },
}

/** The environment variables of a process of Feedline. */
export const environmentOf = (name: ProcessName, mongodbUri: string): Settings => ({
  ...shared,
  ...perProcess[name],
  MONGODB_URI: mongodbUri,
  MONGODB_DATABASE: 'faults',
  NODE_ENV: 'test',
  LOG_LEVEL: 'warn',
})
