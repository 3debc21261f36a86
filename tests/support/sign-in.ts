import { expect } from 'vitest'
import { viewerNodeId } from '../../src/graphql/node-id.ts'
import type { Answer, TestApp } from './app.ts'

/** The current time in the format of tokens: seconds since 1970. */
export const now = () => Math.floor(Date.now() / 1000)

/** Requests the viewer of an Authorization header. */
export const who = (app: TestApp, authorization: string): Promise<Answer> =>
  app.send({ query: '{ viewer { id } }', headers: { authorization } })

/** The viewer of a subject of the main keys, as {@link who} answers. */
export const viewerOf = (sub: string, issuer = '') => ({
  id: viewerNodeId({ issuer, sub, isMain: true }),
})

/** Expects that the whole request is refused with the challenge to sign in. */
export function expectUnauthenticated({ status, headers, errors, data }: Answer) {
  expect([status, errors[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED'])
  expect(headers.get('www-authenticate')).toBe('Bearer')
  expect(data ?? null).toBeNull()
}
