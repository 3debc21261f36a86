import { expect, test } from 'vitest'
import { DomainError } from '../../src/errors.ts'
import { userNodeId } from '../../src/graphql/node-id.ts'
import { commandPrice } from '../../src/graphql/prices.ts'
import type { Charge } from '../../src/graphql/rate-limit.ts'
import { SignIns } from '../../src/graphql/sign-ins.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { SignedIn } from '../../src/users/subject.ts'
import { handle, subjectOf } from '../support/services.ts'

const server = subjectOf('importer')
const signedIn: SignedIn = {
  ...{ subject: server, actsFor: server },
  ...{ roles: new Set(), scopes: new Set(['act-for'] as const) },
}
const request = (actFor: string) =>
  ({
    ...{ ip: '192.0.2.1', scope: null },
    raw: { headersDistinct: { authorization: ['Bearer x'], 'feedline-act-for': [actFor] } },
  }) as never

/** Signs in with accounts that do not exist. */
function signInsWith(charge: Charge | undefined) {
  const calls: string[] = []
  const signIns = new SignIns(
    async () => signedIn,
    {
      subjects: { load: async () => undefined },
      users: {
        subjectOf: async (account: UserId) => {
          calls.push(`read ${account}`)
          return undefined
        },
      },
    },
    {
      charge: async ({ client, crowd, isServer }, { cost, mutations }) => {
        expect({ crowd, isServer, mutations }).toEqual({
          ...{ crowd: undefined, isServer: true, mutations: 0 },
        })
        calls.push(`charge ${client.replace(/:.*/, '')} ${cost}`)
        return charge
      },
    },
  )
  return { signIns, calls }
}

const byAccount = request(`account:${userNodeId(handle('nobody'))}`)

test('a server pays for the read of each account that it names, also of one that does not exist', async () => {
  const { signIns, calls } = signInsWith(undefined)
  await expect(signIns.find(byAccount)).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } })
  expect(calls).toEqual([`charge server ${commandPrice}`, 'read nobody'])
})

test('a server that has used up its limit reads no account, and a subject costs nothing', async () => {
  const refusal = new DomainError('RATE_LIMITED', 'The limit is 1', { retryAfterSeconds: 2 })
  const { signIns, calls } = signInsWith({ headers: {}, state: undefined, refusal })
  await expect(
    signIns.find({ ...(byAccount as object), sender: undefined } as never),
  ).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED' } })
  expect(calls).toEqual([`charge server ${commandPrice}`])
  expect((await signIns.find(request('subject:ann'))).signIn).toMatchObject({ isActing: true })
  expect(calls).toHaveLength(1)
})
