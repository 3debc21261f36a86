import { expect } from 'vitest'
import { readConfig } from '../../../src/environment.ts'
import { findNodeRef, postNodeId, userNodeId } from '../../../src/graphql/node-id.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import { newsMax } from '../../../src/timeline/pages/news.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import type { AnsweringProcess } from '../../support/answering.ts'
import { Poller } from '../../support/poller.ts'
import { runJobs } from '../../support/services.ts'
import type { AccountPlan, AccountStep, RelationStep } from './account-plans.ts'
import { type AccountServers, accountStrategies } from './account-servers.ts'
import { AccountsModel, type PostView, subjectHeldMs, type UserView } from './accounts-model.ts'
import { type PollCosts, pollByGet } from './http-poll.ts'
import type { Outcome } from './model.ts'
import { emptied } from './setting.ts'

const polled = [...accountStrategies, 'FANOUT_ON_READ'] as const

const reservedMs = readConfig({}).users.handleReservedDays * 86_400_000
const people = ['ann', 'ben', 'cat', 'dan'] as const
const handleNames = [...people, 'eve', 'fay'] as const
const group = 'close'

const author = 'author { id handle name }'
const ownPage = `{ timeline(first: 10) { edges { node { id text ${author} facets { kind handle } } } } }`
const mentionsPage = `{ timeline(first: 11) { edges { node { id text ${author} facets { handle user { id handle } } } } } }`
const wholePage = `query ($strategy: FeedStrategy, $group: String) {
  timeline(first: 20, strategy: $strategy, group: $group) {
    edges { node { id text ${author} facets { handle user { id handle } } } }
  }
}`
const firstPoll = '{ timeline(first: 20) { edges { node { id } } pollCursor } }'
const news = `query ($since: String!) {
  timelineNews(since: $since) { count authors { id handle name } }
}`
const list = 'edges { node { id handle } }'
const everything = `query ($ids: [ID!]!, $id: ID!, ${handleNames.map((name) => `$${name}: String!`).join(', ')}) {
  viewer { handle user { id handle name } mutes { ${list} } blocks { ${list} } groups { edges { node { name } } } }
  node(id: $id) { id }
  nodes(ids: $ids) {
    ... on User { id handle name }
    ... on Post { id text ${author} facets { handle user { id handle } } }
  }
  ${handleNames.map((name) => `${name}: user(handle: $${name}) { id handle name }`).join('\n  ')}
  ${handleNames.map((name) => `${name}IsFree: isHandleAvailable(handle: $${name})`).join('\n  ')}
}`

const relationFields: Readonly<Record<RelationStep['kind'], string>> = {
  follow: 'followUser',
  unfollow: 'unfollowUser',
  mute: 'muteUser',
  unmute: 'unmuteUser',
  block: 'blockUser',
  unblock: 'unblockUser',
  group: 'setFollowGroups',
}

const firstRegistration = (subject: number): AccountStep => ({
  kind: 'register',
  ...{ subject, handle: subject, isKeyed: true },
})
const firstPost = (subject: number): AccountStep => ({
  kind: 'post',
  ...{ subject, handle: (subject + 1) % people.length, mentioned: 4, isKeyed: true },
})

/**
 * Runs one history of accounts. After each step, both servers answer as the model says: laws L1, L6
 * and L7.
 */
export class AccountSimulation {
  private static histories = 0
  private readonly prefix = `a${AccountSimulation.histories++}-`
  private readonly subjects = people.map((name) => `${this.prefix}${name}`)
  private readonly model = new AccountsModel(reservedMs)
  private readonly costs: PollCosts = { polls: 0, unchanged: 0, bytes: 0, pages: 0 }
  private readonly pollers: readonly Poller[]
  private readonly servers: AccountServers['servers']
  /** The first poll of each subject: its cursor, and the ids of the posts that it showed. */
  private readonly polls = new Map<string, { since: string; held: readonly string[] }>()
  private turn = 0

  constructor(
    private readonly setting: AccountServers,
    private readonly plan: AccountPlan,
    /** Counts events, by name. */
    private readonly tally: Map<string, number>,
  ) {
    const { costs } = this
    this.servers = setting.servers
    this.pollers = this.subjects.map((subject, n) => {
      const strategy = polled[n % polled.length] as FeedStrategyName
      const nextUrl = () => this.next().url
      return new Poller(pollByGet({ reader: subject as UserId, strategy, nextUrl, costs }))
    })
  }

  async run(): Promise<void> {
    const [{ services }] = this.servers
    await emptied(services, { registered: accountStrategies } as never)
    for (const subject of this.subjects.keys()) await this.apply(firstRegistration(subject))
    for (const [from, to] of this.plan.edges) {
      await this.apply({ kind: 'follow', subject: from, to: { handle: to } })
    }
    for (const subject of this.subjects.keys()) await this.apply(firstPost(subject))
    await this.work()
    for (const poller of this.pollers) await poller.load()
    for (const subject of this.subjects) {
      const { timeline } = (await this.next().ask(subject, firstPoll)).data
      const held = (timeline.edges as readonly PostEdge[]).map(({ node }) => node.id)
      this.polls.set(subject, { since: timeline.pollCursor, held })
    }
    await this.compare(0)
    for (const [at, step] of this.plan.steps.entries()) {
      await this.apply(step)
      await this.work()
      await this.compare(at)
    }
  }

  private now(): number {
    return this.setting.clock.now()
  }

  private next(): AnsweringProcess {
    return this.servers[this.turn++ % 2] as AnsweringProcess
  }

  private subject(n: number): string {
    return this.subjects[n] as string
  }

  private actor(subject: string): UserId {
    return this.model.actorOf(subject, this.now())
  }

  private handle(n: number): string {
    return `${this.prefix}${handleNames[n]}`
  }

  private async apply(step: AccountStep): Promise<void> {
    switch (step.kind) {
      case 'register':
        return this.register(step)
      case 'rename':
        return this.rename(this.subject(step.subject), this.handle(step.handle))
      case 'renameBack': {
        const { former = [] } = this.model.accountOf(this.subject(step.subject)) ?? {}
        const back = former[step.nth % Math.max(1, former.length)]
        return back && this.rename(this.subject(step.subject), back.handle)
      }
      case 'delete':
        return this.delete(this.subject(step.subject))
      case 'purge':
        return this.purge()
      case 'wait':
        return this.setting.clock.advance(step.for === 'subject' ? subjectHeldMs : reservedMs)
      case 'return':
        await this.delete(this.subject(step.subject))
        await this.work()
        await this.compare(step.handle)
        // The removal may take longer than the subject is held after it.
        if (step.isEarly) this.setting.clock.advance(subjectHeldMs)
        await this.purge()
        await this.compare(step.handle)
        if (step.isEarly) await this.register({ ...step, kind: 'register' })
        this.setting.clock.advance(subjectHeldMs)
        return this.register({ ...step, kind: 'register' })
      case 'repeat':
        await this.apply(firstRegistration(step.subject))
        return this.apply(firstPost(step.subject))
      case 'post':
        return this.post(step)
      default:
        return this.relate(step)
    }
  }

  private async register(step: Extract<AccountStep, { kind: 'register' }>): Promise<void> {
    const { model } = this
    const subject = this.subject(step.subject)
    const handle = this.handle(step.handle)
    const key = step.isKeyed ? 'open' : undefined
    const name = `Name ${step.subject}`
    const input = { handle, name, clientMutationId: key }
    const verdict = model.judgeRegistration(subject, handle, key, this.now())
    const { data, outcome } = await this.write(subject, 'createUser', input, 'user { id }')
    if (typeof verdict === 'object') {
      const { repeats } = verdict
      expect(data, 'a repeat of createUser').toEqual({
        user: repeats && { id: userNodeId(repeats as UserId) },
      })
      return this.count('createUser repeats')
    }
    expect(outcome, 'createUser').toBe(verdict)
    this.count(`createUser ${outcome}`)
    if (outcome !== 'changed') return
    const id = accountIn(data.user.id)
    const before = model.accounts.map((account) => account.id)
    expect(before, 'the ids of earlier accounts').not.toContain(id)
    const isReturn = model.accounts.some((account) => account.subject === subject)
    if (isReturn) this.count('returns')
    model.register(id, subject, { handle, name }, key)
  }

  private async rename(subject: string, handle: string): Promise<void> {
    const expected = this.model.rename(subject, handle, this.now())
    const { outcome } = await this.write(subject, 'updateUser', { handle }, 'user { id }')
    expect(outcome, 'updateUser').toBe(expected)
    this.count(`updateUser ${outcome}`)
  }

  /**
   * The database's clock says when an account was deleted. So the simulation's clock says it too.
   * It is ahead, so the removal ends when a step ends it.
   */
  private async delete(subject: string): Promise<void> {
    const _id = this.actor(subject)
    const now = this.now()
    const expected = this.model.remove(subject)
    const { outcome } = await this.write(subject, 'deleteUser', {}, 'changed')
    expect(outcome, 'deleteUser').toBe(expected)
    const { users } = this.setting.database.collections
    if (outcome !== 'changed') return
    const at = new Date(now)
    await users.updateOne({ _id }, { $set: { deletedAt: at, settlesAt: at } })
  }

  private async purge(): Promise<void> {
    const { users } = this.setting.database.collections
    const deleted = { deletedAt: { $exists: true } }
    await users.updateMany(deleted, { $set: { settlesAt: new Date(0) } })
    await this.work()
    this.model.purge(this.now())
  }

  private async post(step: Extract<AccountStep, { kind: 'post' }>): Promise<void> {
    const { model } = this
    const subject = this.subject(step.subject)
    const handles = [this.handle(step.handle), this.handle(step.mentioned)]
    const text = `To @${handles.join(' and @')}.`
    const key = step.isKeyed ? 'post' : undefined
    const verdict = model.judgePost(subject, text, key)
    const input = { text, clientMutationId: key }
    const { data, outcome } = await this.write(subject, 'createPost', input, 'post { id }')
    const id = postIn(data?.post?.id)
    if (typeof verdict === 'object') {
      expect(data && (id ?? null), 'a repeat of createPost').toEqual(verdict.repeats)
      return this.count('createPost repeats')
    }
    expect(outcome, 'createPost').toBe(verdict)
    if (!id) return
    expect(
      model.posts.map((post) => post.id),
      'the ids of earlier posts',
    ).not.toContain(id)
    model.post({ id, subject, text, handles }, this.now(), key)
  }

  private async relate({ kind, subject: n, to }: RelationStep): Promise<void> {
    const { model } = this
    const subject = this.subject(n)
    const actor = this.actor(subject)
    const account =
      'handle' in to
        ? model.holderOf(this.handle(to.handle), this.now())
        : model.accounts[to.account % model.accounts.length]
    if (account?.id === actor) return
    const other = account?.id ?? ('@nobody' as UserId)
    const user =
      'handle' in to
        ? { handle: `@${this.handle(to.handle).toUpperCase()}` }
        : { id: userNodeId(other) }
    const { relations } = model
    const expected =
      kind === 'group' ? relations.setGroups(actor, other, [group]) : relations[kind](actor, other)
    const field = relationFields[kind]
    const input = { user, ...(kind === 'group' && { groups: [group] }) }
    const selection = kind === 'group' ? 'groups' : 'changed'
    const { outcome } = await this.write(subject, field, input, selection)
    expect(outcome, field).toBe(expected)
  }

  /** Sends a mutation. */
  private async write(subject: string, field: string, input: object, selection: string) {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`
    const query = `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} } }`
    const { data, errors } = await this.next().send(subject, query, { input })
    const [error] = errors
    const result = data?.[field]
    const outcome = error?.extensions.code ?? (result.changed === false ? 'unchanged' : 'changed')
    return { data: result, outcome: outcome as Outcome }
  }

  /** Runs all jobs that wait for no time to pass. */
  private async work(): Promise<void> {
    const left = await runJobs(this.servers[0].services)
    expect(left?.kind ?? 'user.deleted').toBe('user.deleted')
  }

  private async compare(at: number): Promise<void> {
    const viewers = [...this.subjects, undefined]
    const compared = await Promise.allSettled(
      this.servers.flatMap((server) =>
        viewers.map(async (subject) => {
          await this.compareViews(server, subject, at)
          if (subject === undefined) return
          await this.comparePages(server, subject, at)
          await this.compareNews(server, subject, at)
        }),
      ),
    )
    for (const result of compared) if (result.status === 'rejected') throw result.reason
    for (const [n, poller] of this.pollers.entries()) await this.comparePoll(n, poller)
  }

  /** All that the server shows of accounts and posts that ever existed, and of the viewer. */
  private async compareViews(
    server: AnsweringProcess,
    subject: string | undefined,
    at: number,
  ): Promise<void> {
    const { model } = this
    const viewer = subject === undefined ? ('' as UserId) : this.actor(subject)
    const users = model.accounts.map(({ id }) => model.viewUser(viewer, id))
    const posts = model.posts.map(({ id }) => model.viewPost(viewer, id))
    const ids = [...model.accounts.map(({ id }) => userNodeId(id)), ...model.posts.map(postNodeId)]
    const id = ids[at % ids.length] as string
    const names = handleNames.map((name, n) => [name, this.handle(n)] as const)
    const variables = { ids, id, ...Object.fromEntries(names) }
    const { data, errors } = await server.send(subject, everything, variables)
    expect(errors).toEqual([])
    const { viewer: own, node, nodes, ...answers } = data
    const byHandle = names.flatMap(([name, handle]) => [
      [name, userAnswer(model.viewUser(viewer, model.holderOf(handle, this.now())?.id))],
      [`${name}IsFree`, model.isAvailable(subject, handle, this.now())],
    ])
    const title = `${subject ?? 'nobody'} at step ${at}`
    expect(answers, `handles to ${title}`).toEqual(Object.fromEntries(byHandle))
    expect(nodes, `nodes to ${title}`).toEqual([
      ...users.map(userAnswer),
      ...posts.map(this.postAnswer),
    ])
    const shown = [...users, ...posts][at % ids.length]
    expect(node, `a node to ${title}`).toEqual(shown && { id })
    if (subject === undefined) expect(own).toBeNull()
    else expect(own, `the viewer to ${title}`).toEqual(this.ownAnswer(viewer))
  }

  /** What only the viewer sees. */
  private ownAnswer(viewer: UserId) {
    const { model } = this
    const user = model.viewUser(viewer, viewer)
    const users = (kind: 'mutes' | 'blocks') => ({
      edges: model.relations.restricted(kind, viewer).flatMap((other) => {
        const shown = model.viewUser(viewer, other)
        return shown ? [{ node: { id: userNodeId(shown.id), handle: shown.handle } }] : []
      }),
    })
    return {
      handle: user?.handle ?? null,
      user: userAnswer(user),
      mutes: users('mutes'),
      blocks: users('blocks'),
      groups: { edges: model.relations.groupsOf(viewer).map((name) => ({ node: { name } })) },
    }
  }

  /** The page of the server's own strategy, read twice, and a whole page of each other one. */
  private async comparePages(server: AnsweringProcess, subject: string, at: number): Promise<void> {
    const viewer = this.actor(subject)
    const posts = this.model.timeline(viewer)
    const expected = posts.slice(0, 10).map((post) => ({
      node: {
        ...this.postAnswer(post),
        facets: post.facets.map(({ handle }) => ({ kind: 'MENTION', handle })),
      },
    }))
    for (const times of [1, 2]) {
      const { data } = await server.ask(subject, ownPage)
      const title = `the page of ${subject} at step ${at}, read ${times}`
      expect(data.timeline.edges, title).toEqual(expected)
    }
    const mentioned = await server.ask(subject, mentionsPage)
    expect(mentioned.data.timeline.edges, `the mentions to ${subject} at step ${at}`).toEqual(
      posts.slice(0, 11).map((post) => ({ node: this.postAnswer(post) })),
    )
    const strategy = polled[at % polled.length]
    const groups = at % 4 === 3 ? group : undefined
    const { data } = await server.ask(subject, wholePage, { strategy, group: groups })
    const whole = groups === undefined ? posts : this.model.timeline(viewer, groups)
    expect(data.timeline.edges, `the ${strategy} page of ${subject} at step ${at}`).toEqual(
      whole.slice(0, 20).map((post) => ({ node: this.postAnswer(post) })),
    )
  }

  /** The news since the first poll. */
  private async compareNews(server: AnsweringProcess, subject: string, at: number): Promise<void> {
    const { since, held = [] } = this.polls.get(subject) ?? {}
    const posts = this.model.timeline(this.actor(subject))
    const fresh = posts.filter((post) => !held.includes(this.postAnswer(post)?.id ?? ''))
    const authors = new Map(fresh.map((post) => [post.author?.id, userAnswer(post.author)]))
    const expected = {
      count: Math.min(fresh.length, newsMax),
      authors: [...authors.values()].slice(0, 3),
    }
    const { data } = await server.ask(subject, news, { since })
    expect(data.timelineNews, `the news of ${subject} at step ${at}`).toEqual(expected)
  }

  /** Law L7, also over several accounts of the subject. */
  private async comparePoll(n: number, poller: Poller): Promise<void> {
    await poller.poll()
    const ids = this.model.timeline(this.actor(this.subject(n))).map(({ id }) => id)
    const { oldest = '' } = poller
    expect(poller.held, `the posts that ${this.subject(n)} polled`).toEqual(
      ids.filter((id) => id >= oldest),
    )
  }

  private readonly postAnswer = (post: PostView | null) => {
    if (!post) return null
    const { id, author, text, facets } = post
    const by = this.model.posts.find((one) => one.id === id)?.author ?? ('' as UserId)
    return {
      id: postNodeId({ id, author: by }),
      text,
      author: userAnswer(author),
      facets: facets.map(({ handle, user }) => ({
        handle,
        user: user && { ...user, id: userNodeId(user.id) },
      })),
    }
  }

  private count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
  }
}

interface PostEdge {
  readonly node: { readonly id: string }
}

const userAnswer = (user: UserView | null) => user && { ...user, id: userNodeId(user.id) }

function accountIn(id: string): UserId {
  const ref = findNodeRef(id)
  if (ref?.type !== 'User') throw new Error(`${id} is not the id of a user`)
  return ref.account
}

function postIn(id: string | undefined): PostId | undefined {
  const ref = findNodeRef(id ?? '')
  return ref?.type === 'Post' ? ref.post.id : undefined
}
