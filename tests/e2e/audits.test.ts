import { type AuditResult, serverAudits } from 'graphql-http'
import { expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { noteFact } from '../support/facts.ts'

const app = useApp()

/**
 * GETs without a header that makes a browser ask first: prevention of cross-site requests refuses them, as it should.
 */
const refusedGets = [
  'MAY accept application/x-www-form-urlencoded formatted GET requests',
  'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
  'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
]

const levelOf = ({ name }: AuditResult) => /^(MUST|SHOULD|MAY)/.exec(name)?.[0] ?? 'other'

test('the server passes the audits of the GraphQL over HTTP specification', async () => {
  const audits = serverAudits({ url: () => `${app.url}/graphql` })
  const results = await Promise.all(audits.map((audit) => audit.fn()))
  const counts: Record<string, Record<string, number>> = {}
  for (const result of results) {
    const level = levelOf(result)
    counts[level] ??= {}
    counts[level][result.status] = (counts[level][result.status] ?? 0) + 1
  }
  noteFact(JSON.stringify(counts))
  const wrong = results.filter(({ status }) => status !== 'ok')
  noteFact(wrong.map(({ name, status }) => `${status}: ${name}`).join('\n'))
  expect(results.filter(({ status }) => status === 'error')).toEqual([])
  expect(counts).toEqual({ MUST: { ok: 13 }, SHOULD: { ok: 23 }, MAY: { ok: 22, notice: 3 } })
  expect(wrong.map(({ name }) => name)).toEqual(refusedGets)
})
