import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fetchAnswer, retryPause, triesMax } from '../../examples/ui/request.ts'

const json = { 'content-type': 'application/graphql-response+json' }
const refusal = (code: string, retryAfterSeconds?: unknown) => {
  const errors = [{ message: code, extensions: { code, retryAfterSeconds } }]
  return new Response(JSON.stringify({ errors }), { status: 503, headers: json })
}
const success = () => new Response('{"data":{"ok":true}}', { headers: json })
const url = 'http://feedline.test/graphql'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('the pause before a repeat', () => {
  test('an outage of 12 seconds is outlasted, whatever chance says', () => {
    for (const chance of [0, 0.5, 0.999]) {
      vi.spyOn(Math, 'random').mockReturnValue(chance)
      for (const failures of [[], [{ code: 'UNAVAILABLE' }]]) {
        let [total, tries] = [0, 1]
        for (;;) {
          const pause = retryPause(failures, tries)
          if (pause === undefined) break
          total += pause
          tries++
        }
        expect(tries).toBe(triesMax)
        expect(total).toBeGreaterThan(16_000)
        expect(total).toBeLessThan(25_000)
      }
    }
  })

  test.each([0.25, 2, 29])(
    'a server that asks for %d seconds is not asked earlier',
    (retryAfterSeconds) => {
      for (const code of ['UNAVAILABLE', 'RATE_LIMITED'])
        for (let tries = 1; tries < triesMax; tries++)
          expect(retryPause([{ code, retryAfterSeconds }], tries)).toBeGreaterThanOrEqual(
            retryAfterSeconds * 1_000,
          )
    },
  )

  test('the longest time that any error asks for counts', () => {
    const failures = [
      { code: 'RATE_LIMITED', retryAfterSeconds: 9 },
      { code: 'UNAVAILABLE', retryAfterSeconds: 1 },
    ]
    expect(retryPause(failures, 1)).toBeGreaterThanOrEqual(9_000)
  })

  test('a request that should wait for more than half a minute fails', () => {
    expect(retryPause([{ code: 'RATE_LIMITED', retryAfterSeconds: 31 }], 1)).toBeUndefined()
  })

  test('errors that stay are not repeated', () => {
    for (const code of ['BAD_USER_INPUT', 'UNAUTHENTICATED', 'INTERNAL_SERVER_ERROR', undefined])
      expect(retryPause([code === undefined ? {} : { code }], 1)).toBeUndefined()
  })

  test('a time that is no number is none', () => {
    for (const retryAfterSeconds of [Number.NaN, -5, null, 'soon'] as never[])
      expect(retryPause([{ code: 'UNAVAILABLE', retryAfterSeconds }], 1)).toBeLessThanOrEqual(450)
  })

  test('a browser that is offline does not repeat', () => {
    vi.stubGlobal('navigator', { onLine: false })
    expect(retryPause([], 1)).toBeUndefined()
  })
})

describe('a request without a library', () => {
  beforeEach(() => void vi.useFakeTimers())

  /** Sends a mutation to a server that gives these answers, the last one again and again. */
  async function send(...answers: (() => Response | Promise<Response>)[]) {
    const bodies: unknown[] = []
    vi.stubGlobal('fetch', async (_: string, { body }: RequestInit) => {
      bodies.push(body)
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      return answer?.()
    })
    const result = fetchAnswer(url, { method: 'POST', body: 'the mutation' }).catch(
      (error: Error) => error,
    )
    await vi.runAllTimersAsync()
    return { answer: await result, bodies }
  }

  test.each([
    ['UNAVAILABLE', () => refusal('UNAVAILABLE')],
    ['RATE_LIMITED', () => refusal('RATE_LIMITED', 2)],
    ['no answer', () => Promise.reject(new TypeError('fetch failed'))],
    ['half an answer', () => new Response('{"dat', { headers: json })],
    ['the page of a proxy', () => new Response('<h1>Bad Gateway', { status: 502 })],
  ])('after %s the same body is sent again', async (_, failure) => {
    const { answer, bodies } = await send(failure, failure, success)
    expect(answer).toEqual({ data: { ok: true } })
    expect(bodies).toEqual(['the mutation', 'the mutation', 'the mutation'])
  })

  test.each([
    ['UNAVAILABLE', () => refusal('UNAVAILABLE'), { errors: [{ message: 'UNAVAILABLE' }] }],
    ['no answer', () => Promise.reject(new TypeError('fetch failed')), { message: 'fetch failed' }],
  ])('after eight times %s it fails', async (_, failure, expected) => {
    const { answer, bodies } = await send(failure)
    expect(bodies).toHaveLength(triesMax)
    expect(answer).toMatchObject(expected)
  })

  test('an empty list of errors is a success', async () => {
    const { answer, bodies } = await send(
      () => new Response('{"data":{},"errors":[]}', { headers: json }),
    )
    expect([answer, bodies.length]).toEqual([{ data: {}, errors: [] }, 1])
  })

  test.each([
    ['a wrong argument', () => refusal('BAD_USER_INPUT'), 'BAD_USER_INPUT'],
    [
      'the page of a wrong address',
      () => new Response('<h1>Not found', { status: 404 }),
      'The server answered with status 404.',
    ],
  ])('after %s it is not sent again', async (_, failure, message) => {
    const { answer, bodies } = await send(failure)
    expect(bodies).toHaveLength(1)
    expect(answer).toMatchObject({ errors: [{ message }] })
  })
})
