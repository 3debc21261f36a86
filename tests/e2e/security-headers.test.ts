import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { useApp } from '../support/app.ts'

const app = useApp()

test.each(['/graphql', '/graphql?query={__typename}', '/nothing', '/readyz', '/%zz', '/'])(
  'the answer to %s is not stored, not embedded, and its type is not guessed',
  async (path) => {
    const { headers } = await fetch(`${app.url}${path}`)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none';.* frame-ancestors 'none'$/,
      ),
    })
  },
)

test('the policy of the playground allows its inline scripts by their hashes, and no other script', async () => {
  const answer = await fetch(`${app.url}/`)
  const policy = answer.headers.get('content-security-policy') ?? ''
  const page = await answer.text()
  const scripts = [...page.matchAll(/<script\b[^>]*>(.*?)<\/script>/gs)]
  const hashes = scripts.map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  expect(hashes.length).toBeGreaterThan(0)
  // A browser hashes scripts after it has changed CR to LF.
  expect(page).not.toContain('\r')
  expect(/script-src ([^;]*)/.exec(policy)?.[1]?.split(' ')).toEqual(hashes)
  expect(page).not.toMatch(/<[a-z][^>]*\son(click|load|error)=/)
})
