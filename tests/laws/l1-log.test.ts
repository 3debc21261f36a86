import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ReplicaSet, replicaSet } from '../support/replica-set.ts'
import {
  type ElectionHistory,
  frozenDatabase,
  readFromLaggingMember,
  undisturbed,
  unnoticedElection,
} from './model/log-elections.ts'
import {
  backlogBetweenTicks,
  cutDuringFill,
  cutStream,
  type LogHistory,
  transactionBetweenTicks,
  writeDuringFill,
  writeDuringTick,
} from './model/log-histories.ts'
import {
  anyServer,
  earlyTick,
  fullBatch,
  keptMemory,
  type Mutant,
  oneBatch,
  oneEpoch,
  untouchedFill,
} from './model/log-mutants.ts'

const rows: readonly {
  readonly event: string
  readonly history: LogHistory
  readonly defect: string
  readonly mutate: Mutant
}[] = [
  {
    event: 'a write during a tick',
    history: writeDuringTick,
    defect: 'a tick that began too early',
    mutate: earlyTick,
  },
  {
    event: 'a backlog of three batches',
    history: backlogBetweenTicks,
    defect: 'a tick of one batch',
    mutate: oneBatch,
  },
  {
    event: 'a transaction of three batches',
    history: transactionBetweenTicks,
    defect: 'a full batch that counts as complete',
    mutate: fullBatch,
  },
  {
    event: 'a write during a fill',
    history: writeDuringFill,
    defect: 'a fill that is kept after a change',
    mutate: untouchedFill,
  },
  {
    event: 'a stream that is cut',
    history: cutStream,
    defect: 'memory that outlives its stream',
    mutate: keptMemory,
  },
  {
    event: 'a stream that is cut during a fill',
    history: cutDuringFill,
    defect: 'a fill that outlives its stream',
    mutate: oneEpoch,
  },
]

async function expectStale(mutate: Mutant, history: () => Promise<void>): Promise<void> {
  const repair = mutate()
  try {
    await expect(history()).rejects.toThrow(/^stale: /)
  } finally {
    repair()
  }
}

describe('on three members', () => {
  let set: ReplicaSet | undefined
  beforeAll(async () => {
    set = await replicaSet({ takeover: 'lasting' })
  })
  afterAll(async () => {
    await set?.[Symbol.asyncDispose]()
  })
  const play = async (history: ElectionHistory) => history(set as ReplicaSet)

  test.each(rows)(
    'memory is never older than what was acknowledged: $event',
    async ({ history }) => {
      await play(undisturbed(history))
    },
  )

  test.each(rows)(
    'the law of memory finds the mutant of the log: $defect',
    async ({ mutate, history }) => {
      await expectStale(mutate, () => play(undisturbed(history)))
    },
  )

  test('memory is never older than what was acknowledged: an election that the driver does not notice', async () => {
    await play(unnoticedElection)
  })

  test('the law of memory finds the mutant of the log: a tick on a server that has stepped down', async () => {
    await expectStale(anyServer, () => play(unnoticedElection))
  })

  test('memory is never older than what was acknowledged: a fill from a member that lags behind', async () => {
    await play(readFromLaggingMember(true))
  })

  test('the law of memory finds the mutant of the log: a fill that is older than the log', async () => {
    await expect(play(readFromLaggingMember(false))).rejects.toThrow(/^stale: /)
  })

  test('the log is not current while the database is frozen, and memory is never older afterwards', async () => {
    await play(frozenDatabase)
  })
})
