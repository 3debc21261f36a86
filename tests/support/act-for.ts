import { userNodeId } from '../../src/graphql/node-id.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { signByHmac } from './key-server.ts'
import { now } from './sign-in.ts'

/** The main key of the servers under test. */
export const secret = 's'.repeat(32)

/** An Authorization header with a token that ends in ten minutes. */
export const signed = (claims: object, by = secret) =>
  `Bearer ${signByHmac('HS256', by, { exp: now() + 600, ...claims })}`

/** The headers of a server that acts for a user. */
export const actFor = (user: string, authorization: string) => ({
  ...{ authorization, 'feedline-act-for': user },
})

export const byAccount = (account: UserId) => `account:${userNodeId(account)}`
export const bySubject = (sub: string) => `subject:${encodeURIComponent(sub)}`
