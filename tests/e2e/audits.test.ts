import { type AuditResult, serverAudits } from 'graphql-http'
import { expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { noteFact } from '../support/facts.ts'

const app = useApp()

const levelOf = ({ name }: AuditResult) => /^(MUST|SHOULD|MAY)/.exec(name)?.[0] ?? 'other'

test('the server passes all audits of the GraphQL over HTTP specification', async () => {
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
  expect(wrong.map(({ name }) => name)).toEqual([])
  expect(counts).toEqual({ MUST: { ok: 13 }, SHOULD: { ok: 23 }, MAY: { ok: 25 } })
})
