import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { engagementKinds, entryKey } from '../../src/engagement/kinds.ts'
import { groupBy } from '../../src/lib/batch.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import { engagementProblems, sameLimits, strays, walked } from '../support/engagement.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { compiledProgram } from '../support/process.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'
import type { Answer, Orders } from './processes/engage-child.ts'

const program = compiledProgram('engage-child')
const [processes, writes] = [3, 200]

test.each(share(2, [0, 3]))(
  'three processes on the same posts store exactly their acknowledged engagement, threshold %d',
  async (threshold) => {
    const limits = { threshold, capacity: 2 }
    const harness = harnesses[threshold === 0 ? 0 : 1]
    const { services, database } = harness as (typeof harnesses)[0]
    const users = Array.from({ length: 12 }, (_, n) => handle(`u${n}`))
    await openAccounts(services, users)
    const posts: PostRef[] = []
    for (const author of users.slice(0, 2)) {
      const { id } = await services.posts.create(author, { text: 'hot' })
      posts.push({ id, author })
    }
    const orders = { uri: database.uri, database: database.name, ...limits, users, posts, writes }
    const answers = (
      await Promise.all(
        Array.from({ length: processes }, (_, seed) => answersOf({ ...orders, seed: seed + 1 })),
      )
    ).flat()

    expect(answers).toHaveLength(processes * writes)
    const outcomes = groupBy(answers, ({ outcome }) => outcome)
    const summary = [...outcomes].map(([outcome, { length }]) => `${length} ${outcome}`)
    noteFact(`L2, ${processes} processes, threshold ${threshold}: ${summary.join(', ')}`)
    expect(outcomes.get('changed')?.length).toBeGreaterThan(writes)

    expect(await engagementProblems(services, limits)).toEqual([])
    expect(await strays(services, posts)).toEqual([])
    for (const post of posts) {
      for (const kind of engagementKinds) {
        const about = answers.filter(
          ({ post: id, ...answer }) => id === post.id && answer.kind === kind,
        )
        const key = ({ actor, id }: { actor: string; id?: string | undefined }) =>
          entryKey(kind, actor, `${id}`)
        const unknown = about.filter(({ outcome }) => outcome === 'unknown')
        // On a busy machine the answer to a commit may come too late. What it was about is stored
        // or not.
        const isComment = kind === 'comments'
        const either = new Set(unknown.map(isComment ? ({ id }) => id : key))
        const kept = new Map<string, number>()
        for (const answer of about.filter(({ outcome }) => outcome === 'changed')) {
          if (either.has(key(answer))) continue
          kept.set(key(answer), (kept.get(key(answer)) ?? 0) + answer.delta)
        }
        const entries = (await walked(services, kind, post)).map(key)
        const seen = new Set(entries)
        expect(entries).toHaveLength(seen.size)
        expect([...kept.values()].every((count) => count === 0 || count === 1)).toBe(true)
        const stored = [...kept].flatMap(([name, count]) => (count === 1 ? [name] : []))
        expect(stored.filter((name) => !seen.has(name))).toEqual([])
        const more = [...seen].filter((name) => !either.has(name) && !stored.includes(name))
        const added = unknown.filter(({ delta }) => isComment && delta === 1)
        expect(more.length).toBeLessThanOrEqual(added.length)
      }
    }
  },
  patient(120_000),
)

const harnesses = [0, 3].map((threshold) =>
  useServices('collection', sameLimits({ threshold, capacity: 2 })),
)

/** Starts another process with these writes. @returns the answers that it received. */
async function answersOf(orders: Orders): Promise<Answer[]> {
  const args = [program, JSON.stringify(orders)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(code).toBe(0)
  return JSON.parse(printed) as Answer[]
}
