import fc from 'fast-check'
import { expect } from 'vitest'
import { type EngagementKind, engagementKinds } from '../../../src/engagement/kinds.ts'
import type { PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { engagementProblems, type Limits } from '../../support/engagement.ts'
import { drain, handle, openAccounts } from '../../support/services.ts'
import { reconcileAll } from './kept-repairs.ts'

const people = 4
const verbs = ['block', 'unblock', 'mute', 'unmute', 'follow'] as const

/** What a process does to two users, or to one of them. */
interface AdmissionStep {
  readonly verb: (typeof verbs)[number] | 'deletePost' | 'deleteUser' | 'drain' | 'repair'
  readonly a: number
  /** The other user, as a distance from `a`. */
  readonly to: number
  /** The process that does it. */
  readonly by: number
}

/** A history of four users with a post each. */
export type AdmissionPlan = readonly AdmissionStep[]

const numbers = {
  a: fc.nat(people - 1),
  to: fc.integer({ min: 1, max: people - 1 }),
  by: fc.nat(2),
}
const step = (weight: number, ...names: AdmissionStep['verb'][]) => ({
  weight,
  arbitrary: fc.record({ verb: fc.constantFrom(...names), ...numbers }),
})
export const anyAdmissionPlan: fc.Arbitrary<AdmissionPlan> = fc.array(
  fc.oneof(
    step(12, 'block', 'unblock'),
    step(4, 'mute', 'unmute', 'follow'),
    step(2, 'deletePost', 'deleteUser'),
    step(1, 'drain', 'repair'),
  ),
  { minLength: 4, maxLength: 12, size: 'max' },
)

let scenes = 0

/**
 * Runs a history. After each step, two users try to engage with a post of each other, by each
 * process: all of them get the same answer, which the model knows (law L6).
 * @param processes three of them. The last one keeps no memory.
 */
export class AdmissionSimulation {
  private readonly prefix = `admission${scenes++}-`
  private readonly users = Array.from({ length: people }, (_, n) => handle(`${this.prefix}u${n}`))
  private readonly posts = new Map<UserId, PostRef>()
  private readonly goneUsers = new Set<UserId>()
  private readonly gonePosts = new Set<UserId>()
  private readonly blocks = new Set<string>()

  constructor(
    private readonly processes: readonly [Services, Services, Services],
    private readonly limits: Limits,
    private readonly tally = new Map<string, number>(),
  ) {}

  async run(plan: AdmissionPlan): Promise<void> {
    const [, , reading] = this.processes
    await openAccounts(reading, this.users)
    for (const author of this.users) {
      const { id } = await reading.posts.create(author, { text: 'admission' })
      this.posts.set(author, { id, author })
    }
    for (const [at, step] of plan.entries()) {
      const pair = [this.user(step.a), this.user(step.a + step.to)] as const
      await this.apply(step, ...pair)
      await this.compare(`${step.verb} of step ${at}`, at, ...pair)
    }
    const posts = [...this.posts.values()]
    expect(await engagementProblems(reading, this.limits, posts)).toEqual([])
  }

  private user(n: number): UserId {
    return this.users[n % people] as UserId
  }

  private async apply({ verb, by }: AdmissionStep, a: UserId, b: UserId): Promise<void> {
    const services = this.processes[by % 3] as Services
    const are = [a, b].every((user) => !this.goneUsers.has(user))
    switch (verb) {
      case 'deleteUser':
        await services.users.delete(a)
        this.goneUsers.add(a)
        return
      case 'deletePost': {
        const post = this.posts.get(a)
        if (post && !this.goneUsers.has(a)) await services.posts.delete(a, post)
        if (!this.goneUsers.has(a)) this.gonePosts.add(a)
        return
      }
      case 'drain':
        return drain(this.processes[2])
      case 'repair':
        return are ? this.repair(services, a, b) : undefined
      case 'follow':
        if (are && !this.areBlocked(a, b)) await services.follows.follow(a, b)
        return
      default:
        if (!are) return
        await services.restrictions[verb](a, b)
        if (verb === 'block') this.blocks.add(`${a}>${b}`)
        if (verb === 'unblock') this.blocks.delete(`${a}>${b}`)
    }
  }

  /**
   * The mirror of a block is lost, processes keep what is left of it, and a reconciliation writes
   * it again.
   */
  private async repair(services: Services, a: UserId, b: UserId): Promise<void> {
    if (this.areBlocked(a, b)) return
    await services.restrictions.block(a, b)
    const mirror = { owner: b, other: a, kind: 'BLOCKED_BY' as const }
    await services.collections.restrictions.deleteOne(mirror)
    const answers = await this.answersOf(b, a, 0)
    for (const answer of answers) expect(answer, 'a lost mirror').toEqual(answers[2])
    await reconcileAll(services)
    this.blocks.add(`${a}>${b}`)
  }

  private areBlocked(a: UserId, b: UserId): boolean {
    return this.blocks.has(`${a}>${b}`) || this.blocks.has(`${b}>${a}`)
  }

  private async compare(when: string, at: number, a: UserId, b: UserId): Promise<void> {
    for (const [viewer, author] of [
      [a, b],
      [b, a],
    ] as const) {
      const isOpen =
        !this.goneUsers.has(viewer) &&
        !this.goneUsers.has(author) &&
        !this.gonePosts.has(author) &&
        !this.areBlocked(viewer, author)
      const answers = await this.answersOf(viewer, author, at)
      const [, , read] = answers
      expect(read, `${when}, without memory`).toEqual(isOpen ? 'changed' : expect.any(Array))
      for (const answer of answers) expect(answer, `${when}, with memory`).toEqual(read)
      const name = isOpen ? 'admitted' : 'refused'
      this.tally.set(name, (this.tally.get(name) ?? 0) + 1)
    }
  }

  /**
   * What each process answers to a user who engages with the post of an author. Nothing of it
   * stays.
   */
  private async answersOf(viewer: UserId, author: UserId, at: number) {
    const post = this.posts.get(author) as PostRef
    return Promise.all(
      this.processes.map((services, n) => {
        const kind = engagementKinds[(at + n) % engagementKinds.length] as EngagementKind
        return this.answerOf(services, kind, viewer, post)
      }),
    )
  }

  private async answerOf(
    { engagements }: Services,
    kind: EngagementKind,
    viewer: UserId,
    post: PostRef,
  ) {
    try {
      const { changed, entry } = await engagements.add(kind, viewer, post, { text: 'probe' })
      const remover = this.processes[2].engagements
      if (kind !== 'comments') await remover.remove(kind, viewer, post)
      else await remover.removeById({ kind, post, id: entry.id }, viewer)
      return changed ? 'changed' : 'unchanged'
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (code === undefined) throw error
      return [code, message]
    }
  }
}
