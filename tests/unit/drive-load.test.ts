import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Answer, Ask } from '../../packages/drive/client.ts'
import { Journal } from '../../packages/drive/journal.ts'
import { type LoadParts, runLoad } from '../../packages/drive/load.ts'
import { People } from '../../packages/drive/people.ts'
import { parseMix, planSteps } from '../../packages/drive/plan.ts'
import { Poller, Pollers } from '../../packages/drive/poller.ts'
import { formatDrive } from '../../packages/drive/print.ts'
import { Recorder, type StepRecord } from '../../packages/drive/recorder.ts'
import { type DriveResult, exitCodeOf, summarizeLoad } from '../../packages/drive/result.ts'
import { emptyResult } from '../../packages/drive/verification.ts'
import type { Handle } from '../../src/lib/ids.ts'

const page = { timeline: { edges: [] } }

/** A load on a deployment that is simulated by `answer`. */
function partsOf(
  rates: readonly number[],
  answer: () => Promise<Answer<unknown>>,
  more: Partial<LoadParts> = {},
): LoadParts {
  const people = new People(['a', 'b'] as Handle[], 1)
  return {
    plan: {
      steps: planSteps(rates, 1, 0),
      spacing: 'constant',
      mix: parseMix('home=1'),
      users: 2,
      seed: 1,
    },
    world: { people, journal: new Journal(), pollers: new Pollers([]), runId: 'test' },
    ask: answer as Ask,
    outstandingMax: 1_000,
    untilP99Ms: undefined,
    onProgress: () => {},
    signal: new AbortController().signal,
    ...more,
  }
}

const ok = async (): Promise<Answer<unknown>> => ({ code: 'OK', data: page })

describe('an open loop', () => {
  test('a pause of the deployment delays no arrival, and its latency counts from the due time', async () => {
    // The deployment answers nothing for 600 ms from the first request on.
    let pauseEnds: number | undefined
    let sentInPause = 0
    const { recorder } = await runLoad(
      partsOf([100], async () => {
        pauseEnds ??= performance.now() + 600
        const waitMs = pauseEnds - performance.now()
        if (waitMs > 0) {
          sentInPause++
          await sleep(waitMs)
        }
        return ok()
      }),
    )
    const total = recorder.totals().get('home')
    expect(total).toMatchObject({ sent: 100, ok: 100 })
    expect(sentInPause).toBeGreaterThan(40)
    // A closed loop would have one slow request. Here the latencies are spread from 600 ms to 0.
    expect(total?.latencies.percentile(50)).toBeGreaterThan(60)
    expect(total?.latencies.percentile(99)).toBeGreaterThan(500)
  })

  test('arrivals beyond the most open requests are dropped, counted, and make the run invalid', async () => {
    const slow = async () => {
      await sleep(300)
      return ok()
    }
    const outcome = await runLoad(partsOf([50], slow, { outstandingMax: 2 }))
    const { steps, generator, limits, operations } = summarizeLoad(outcome)
    const dropped = steps[0]?.dropped ?? 0
    expect(dropped).toBeGreaterThan(30)
    expect((operations.home?.sent ?? 0) + dropped).toBe(50)
    expect(generator.droppedShare).toBe(dropped / 50)
    expect(limits.join()).toContain('dropped')
  })

  test('errors are counted by their codes, repeated never, and have no latency', async () => {
    let at = 0
    const answer = async (): Promise<Answer<unknown>> =>
      ++at % 2 === 0 ? ok() : { code: at % 4 === 1 ? 'RATE_LIMITED' : 'UNAVAILABLE' }
    const { operations, steps } = summarizeLoad(await runLoad(partsOf([40], answer)))
    expect(at).toBe(40)
    expect(operations.home).toMatchObject({
      ...{ sent: 40, ok: 20, errors: { RATE_LIMITED: 10, UNAVAILABLE: 10 } },
    })
    expect(steps[0]).toMatchObject({ failed: 20, achievedPerSecond: 20 })
  })

  test('a ramp ends after the step that passes the bound, and names the rate before it', async () => {
    const begin = performance.now()
    const answer = async () => {
      if (performance.now() - begin > 1_100) await sleep(250)
      return ok()
    }
    const outcome = await runLoad(partsOf([20, 30, 40, 50], answer, { untilP99Ms: 200 }))
    const { steps, highestRateWithin } = summarizeLoad(outcome)
    expect(steps.map(({ perSecond }) => perSecond)).toEqual([20, 30])
    expect(highestRateWithin).toBe(20)
  })

  test('a rate is judged after its answers, and a step that began before the verdict counts for nothing', async () => {
    const begin = performance.now()
    // The last requests of the first second are answered in the next one, later than the bound.
    const answer = async () => {
      const ms = performance.now() - begin
      if (ms > 800 && ms < 1_000) await sleep(450)
      return ok()
    }
    const outcome = await runLoad(partsOf([20, 40, 60], answer, { untilP99Ms: 400 }))
    const { steps, highestRateWithin, operations } = summarizeLoad(outcome)
    expect(steps.map(({ perSecond }) => perSecond)).toEqual([20])
    expect([highestRateWithin, operations.home?.sent]).toEqual([0, 20])
  })

  test('an arrival without anything to act on is skipped, and the run stays valid', async () => {
    const base = partsOf([20], ok)
    const plan = { ...base.plan, mix: parseMix('home=1,like=2,poll=2') }
    const { steps, operations, limits } = summarizeLoad(await runLoad({ ...base, plan }))
    const [step] = steps
    expect(operations.like ?? operations.poll).toBeUndefined()
    expect(step?.skipped).toBe(20 - (operations.home?.sent ?? 0))
    expect([step?.dropped, limits.join().includes('dropped')]).toEqual([0, false])
  })

  test('the warm-up is in no figure', async () => {
    const base = partsOf([20], ok)
    const plan = { ...base.plan, steps: planSteps([20], 0.5, 0.5) }
    const { steps, operations } = summarizeLoad(await runLoad({ ...base, plan }))
    expect([steps.length, operations.home?.sent]).toEqual([1, 10])
  })

  test('one step at the limit of the generator makes the run invalid, and is named', async () => {
    const busy = async () => {
      const untilMs = performance.now() + 60
      while (performance.now() < untilMs);
      return ok()
    }
    let sent = 0
    const answer = () => (++sent > 20 ? busy() : ok())
    const { limits, generator } = summarizeLoad(await runLoad(partsOf([20, 21], answer)))
    expect(generator.lateP99Ms).toBeGreaterThan(25)
    expect(limits.join()).toMatch(/at 21\/s .*late \(p99\)/)
    expect(limits.join()).not.toContain('at 20/s it dropped')
  })

  test('requests that follow from answers do not dilute the lateness of arrivals', () => {
    const recorder = new Recorder(planSteps([1], 1, 0), undefined)
    const step = recorder.steps[0] as StepRecord
    const nowMs = performance.now()
    recorder.begin(step, 'poll', nowMs - 100)
    for (let at = 0; at < 9; at++) recorder.begin(step, 'newPosts', nowMs)
    expect(step.lateness.percentile(50)).toBeGreaterThan(90)
  })

  test('a signal ends the arrivals, and the load returns what was measured', async () => {
    const signal = AbortSignal.timeout(300)
    const { recorder, isInterrupted } = await runLoad(partsOf([100, 100], ok, { signal }))
    const total = recorder.totals().get('home')
    expect(isInterrupted).toBe(true)
    expect(total?.sent).toBeLessThan(100)
    expect(total?.ok).toBe(total?.sent)
    const [first] = summarizeLoad({ recorder, rateWithin: undefined, isInterrupted }).steps
    expect(first?.seconds).toBeLessThan(0.9)
    expect(first?.achievedPerSecond).toBeGreaterThan(50)
  })
})

test('a poller reads new posts once, keeps what it holds after a failure, and loads again after a change', async () => {
  const poller = new Poller(0)
  const edges = (...all: string[]) => all.map((id) => ({ node: { id } }))
  const pageInfo = { hasNextPage: true, hasPreviousPage: false }
  const answers: Answer<unknown>[] = []
  const ask = (async () => answers.shift() ?? { code: 'CONNECTION' }) as Ask
  const timeline = (...all: string[]) => ({
    code: 'OK',
    data: { timeline: { pollCursor: all.join(), edges: edges(...all), pageInfo } },
  })
  const news = (count: number, changed = false) => ({
    code: 'OK',
    data: { timelineNews: { count, changed, pollCursor: 'c' } },
  })
  answers.push(timeline('2', '1'))
  expect(await poller.load(ask)).toBe(true)
  expect([poller.held, poller.oldest]).toEqual([['2', '1'], '1'])
  answers.push(news(1))
  expect(await poller.poll(ask, ask)).toBe('failed')
  expect(poller.held).toEqual(['2', '1'])
  answers.push(news(1), timeline('3', '2'))
  expect(await poller.poll(ask, ask)).toBe('changed')
  expect(poller.held).toEqual(['3', '2', '1'])
  answers.push({ code: 'NOT_MODIFIED' })
  expect(await poller.poll(ask, ask)).toBe('unchanged')
  answers.push(news(0, true), timeline('3'))
  expect(await poller.poll(ask, ask)).toBe('changed')
  expect(poller.held).toEqual(['3'])
})

test('the printed text names each difference, and each list that was not verified', async () => {
  const load = summarizeLoad(await runLoad(partsOf([20], ok)))
  const verification = {
    ...emptyResult(1, ['INBOX']),
    ...{ differences: 1, unverified: 1 },
    unverifiedSample: [{ reader: 'ben', list: 'poll', reason: 'it is gone' }],
    sample: [{ reader: 'ann', list: 'timeline INBOX', kind: 'MISSING' as const, item: 'post' }],
  }
  const result: DriveResult = {
    settings: {
      ...{ url: [new URL('http://a/graphql')], users: 2, prefix: 'drive', follows: 1, posts: 1 },
      ...{ rate: [20], step: 1, warmup: 0, arrivals: 'constant', mix: parseMix('home=1') },
      ...{ sample: 1, seed: 1 },
    },
    versions: { feedline: '1', node: '20' },
    startedAt: '2026-01-01',
    ...load,
    acknowledged: { posts: 0, follows: 0, likes: 0 },
    verification,
  }
  const text = formatDrive(result)
  expect(text).toContain('MISSING  timeline INBOX of ann: post\n')
  expect(text).toContain('NOT VERIFIED  poll of ben: it is gone\n')
  expect(text).not.toMatch(/NaN|Infinity|undefined/)
})

test('a run is right only if all was verified and any request was answered', async () => {
  const failing = async () => ({ code: 'UNAUTHENTICATED' })
  const [answered, failed] = await Promise.all(
    [ok, failing].map(async (answer) => summarizeLoad(await runLoad(partsOf([4], answer)))),
  )
  const right = emptyResult(1, [])
  const codeOf = (load = answered, verification: DriveResult['verification'] = right) =>
    exitCodeOf({ total: (load as DriveResult).total, limits: [], verification })
  expect(codeOf()).toBe(0)
  expect(codeOf(failed)).toBe(1)
  expect(codeOf(answered, { ...right, unverified: 1 })).toBe(1)
  expect(codeOf(answered, { ...right, differences: 1 })).toBe(1)
})
