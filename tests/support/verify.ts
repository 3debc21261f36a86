import { toObjectId } from '../../src/db/object-id.ts'
import type { IntegrityServices } from '../../src/integrity/invariant.ts'
import { Report } from '../../src/integrity/report.ts'
import { verify } from '../../src/integrity/run.ts'
import { type EngagementId, IdMint, type PostRef, type UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { handle, namesOf, type ServicesHarness } from './services.ts'

/** All findings of `verify` over all data, and its report. */
export async function verified(services: IntegrityServices) {
  const report = new Report(Number.POSITIVE_INFINITY)
  await verify(services, { readers: 'all' }, report)
  return { differences: report.sample, report }
}

const mint = new IdMint(() => Date.now() + 500)

/**
 * A new id in its stored form, above all that the services have minted: they follow the clock of
 * the database, which they know only to within the time of a command.
 */
export const newId = () => toObjectId(mint.next<EngagementId>())

/** Inserts a job that no process runs. */
export async function addJob(
  { collections: { outbox } }: Services,
  kind: string,
  payload: Readonly<Record<string, unknown>>,
  state: 'READY' | 'PARKED' = 'READY',
): Promise<void> {
  const runAt = new Date('2099-01-01')
  const { author, follower, user } = payload
  const about = String(author ?? follower ?? user ?? '')
  const job = { _id: newId(), about, kind, payload, state, queue: 'QUICK' as const }
  await outbox.insertOne({ ...job, runAt, fence: 0, attempts: 0 })
}

const firstPage = { window: { limit: 1, backward: false }, projection: 'ref' } as const

/**
 * Creates users with data of every kind, and runs all jobs. All users follow each other, post, and
 * engage with every post. The first and the third user block each other. The post of the second
 * user is deleted. One account is deleted.
 * @returns the post of each user.
 */
export async function activity(
  { services, clock, rest }: ServicesHarness,
  names: readonly [string, string, string, ...string[]],
): Promise<(author: string) => PostRef> {
  const people = names.map(handle)
  const [first, second, third] = people as [UserId, UserId, UserId]
  const gone = handle('zz-gone')
  for (const one of [...people, gone])
    await services.users.create(one, { ...namesOf(one), name: one })
  const posts = new Map<string, PostRef>()
  for (const one of [...people, gone]) {
    posts.set(one, await services.posts.create(one, { text: `by ${one}` }))
    for (const other of people) if (other !== one) await services.follows.follow(one, other)
    if ((await services.registry.read()).has('CACHE')) {
      await services.feed.timeline(one, { ...firstPage, strategy: 'CACHE' })
    }
  }
  for (const one of [...people, gone]) {
    for (const post of posts.values()) {
      await services.engagements.add('likes', one, post)
      await services.engagements.add('shares', one, post)
      await services.engagements.add('comments', one, post, { text: 'well' })
    }
  }
  await services.follows.unfollow(first, second)
  await services.follows.follow(first, second)
  await services.restrictions.block(first, third)
  await services.restrictions.mute(second, third)
  await services.posts.delete(second, posts.get(second) as PostRef)
  await services.users.delete(gone)
  clock.advance(60_000)
  await rest()
  return (author) => posts.get(author) as PostRef
}
