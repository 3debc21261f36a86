import { type Agent, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { userNodeId } from '../../src/graphql/node-id.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Answer } from './app.ts'
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

/** Sends a request with raw headers, names and values in turn, to the server at an address. */
export async function sendRaw(
  url: string,
  query: string,
  headers: readonly string[],
  agent?: Agent,
): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const { host } = new URL(url)
    const sent = request(`${url}/graphql`, {
      method: 'POST',
      headers: ['host', host, 'content-type', 'application/json', ...headers],
      ...(agent && { agent }),
    })
    sent.once('response', resolve).once('error', reject).end(JSON.stringify({ query }))
  })
  const { data, errors = [] } = (await json(response)) as Answer
  return { status: response.statusCode ?? 0, headers: new Headers(), data, errors }
}
