import { expect, test, vi } from 'vitest'
import type { Context } from '../../src/graphql/context.ts'
import { mutate } from '../../src/graphql/mutate.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { subjectOf } from '../support/services.ts'

const context = {
  requireViewer: () => 'ann' as UserId,
  scopedId: (id: string | undefined) => id,
  requireSubject: () => subjectOf('ann'),
  forget: () => {},
} as unknown as Context

const run = (clientMutationId: string) =>
  mutate(
    context,
    'test',
    { clientMutationId },
    {
      run: async ({ idempotencyKey }) => ({ id: idempotencyKey?.clientMutationId }),
    },
  )

// BSON would store every half of a surrogate pair as U+FFFD, and so take two ids for one.
test.each(['\ud800', '\ud801', 'a\udc00', 'a'.repeat(129)])(
  'the clientMutationId %j is refused',
  async (id) => {
    await expect(run(id)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      details: { argument: 'input.clientMutationId' },
    })
  },
)

test.each(['a', '😀', '\ufffd'])('the clientMutationId %j is accepted unchanged', async (id) => {
  expect(await run(id)).toMatchObject({ id, clientMutationId: id })
})

test('a mutation that waits for the database several times is answered within 9 s', async () => {
  vi.useFakeTimers()
  try {
    const answer = mutate(context, 'test', {}, { run: () => new Promise<object>(() => {}) })
    const refused = expect(answer).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await vi.advanceTimersByTimeAsync(9_000)
    await refused
  } finally {
    vi.useRealTimers()
  }
})
