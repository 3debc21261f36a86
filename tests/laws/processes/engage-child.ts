import { connect } from '../../../src/db/client.ts'
import { readConfig } from '../../../src/environment.ts'
import { DomainError } from '../../../src/errors.ts'
import type { PostRef, UserId } from '../../../src/lib/ids.ts'
import { createServices } from '../../../src/services.ts'
import { actsOf, sameLimits } from '../../support/engagement.ts'

/** An answer that a child received. */
export interface Answer {
  readonly kind: 'likes' | 'comments' | 'shares'
  readonly post: string
  readonly actor: string
  readonly delta: 1 | -1
  /**
   * `refused`: the answer says that nothing was changed. `unknown`: it says that it may have been.
   */
  readonly outcome: 'changed' | 'unchanged' | 'refused' | 'unknown'
  readonly id: string | undefined
}

/** The options of a child process. */
export interface Orders {
  readonly uri: string
  readonly database: string
  readonly threshold: number
  readonly capacity: number
  readonly users: readonly UserId[]
  readonly posts: readonly PostRef[]
  readonly writes: number
  readonly seed: number
}

// A process that adds and removes likes, comments and shares, `writes` times. Then it prints the
// answers that it received in one line of JSON.
if (process.argv[2]) await main(JSON.parse(process.argv[2]) as Orders)

async function main({ uri, database, users, posts, writes, seed, ...limits }: Orders) {
  const client = await connect(uri)
  const { threshold, capacity } = limits
  const config = { ...readConfig({}), engagement: sameLimits({ threshold, capacity }) }
  const services = createServices(client, client.db(database), config)
  const answers: Answer[] = []
  const comments = new Map<string, string>()
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const write = async () => {
    const kind = (['likes', 'likes', 'comments', 'shares'] as const)[random(4)] ?? 'likes'
    const [post, actor] = [posts[random(posts.length)], users[random(users.length)]]
    if (!post || !actor) throw new Error('nobody or nothing')
    const mine = [...comments].find(([, owner]) => owner === `${actor} ${post.id}`)?.[0]
    const takes = random(5) < 2 && (kind !== 'comments' || mine !== undefined)
    if (takes && mine && kind === 'comments') comments.delete(mine)
    const acts = actsOf(services, kind)
    const about = { kind, post: post.id, actor, delta: takes ? -1 : 1 } as const
    const work = takes ? acts.take(actor, post, mine as never) : acts.add(actor, post)
    try {
      const { changed, entry } = await work
      answers.push({ ...about, outcome: changed ? 'changed' : 'unchanged', id: entry?.id })
      if (!takes && entry && kind === 'comments') comments.set(entry.id, `${actor} ${post.id}`)
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'UNAVAILABLE')) throw error
      const outcome = error.message.includes('Nothing was changed') ? 'refused' : 'unknown'
      answers.push({ ...about, outcome, id: takes ? mine : undefined })
    }
  }
  let left = writes
  const writer = async () => {
    while (left-- > 0) await write()
  }
  await Promise.all(Array.from({ length: 16 }, writer))
  await client.close()
  console.log(JSON.stringify(answers))
}
