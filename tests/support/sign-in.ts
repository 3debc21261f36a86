import { expect } from 'vitest'
import type { Answer, TestApp } from './app.ts'

/** As tokens tell the time. */
export const now = () => Math.floor(Date.now() / 1000)

/** Asks who an Authorization header makes one. */
export const who = (app: TestApp, authorization: string): Promise<Answer> =>
  app.send({ query: '{ viewer { handle } }', headers: { authorization } })

/** The whole request is refused, and told how to sign in. */
export function expectUnauthenticated({ status, headers, errors, data }: Answer) {
  expect([status, errors[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED'])
  expect(headers.get('www-authenticate')).toBe('Bearer')
  expect(data ?? null).toBeNull()
}
