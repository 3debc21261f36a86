import { expect, test } from 'vitest'
import type { Answer, ApiRequest, Ask } from '../../packages/drive/client.ts'
import { Journal } from '../../packages/drive/journal.ts'
import { postText, type World } from '../../packages/drive/operations.ts'
import { PatientClient, RequestFailure } from '../../packages/drive/patient.ts'
import { People } from '../../packages/drive/people.ts'
import { Poller, Pollers } from '../../packages/drive/poller.ts'
import { verifyRun } from '../../packages/drive/verification.ts'
import type { Handle } from '../../src/lib/ids.ts'

/** A deployment of two users whose lists are right, until a test changes one. */
class Deployment {
  truth = ['p3', 'p2', 'p1']
  inbox = ['p3', 'p2', 'p1']
  polled = ['p3', 'p2', 'p1']
  posts = [postOf('p2', 'a'), postOf('p1', 'b')]
  following = ['ben']
  liked = ['p3']
  pending = false
  /** The strategy that serves pages of INBOX. */
  servedBy = 'INBOX'
  /** What happens before each answer. */
  before: (request: ApiRequest) => Answer<unknown> | undefined = () => undefined

  readonly ask = (async (request: ApiRequest): Promise<Answer<unknown>> => {
    const { strategy } = request.variables
    const answer = this.before(request)
    if (answer) return answer
    if (strategy && !['INBOX', 'FANOUT_ON_READ'].includes(strategy as string)) {
      return { code: 'BAD_USER_INPUT' }
    }
    return { code: 'OK', data: this.answer(request) }
  }) as Ask

  private answer({ document, variables: { strategy } }: ApiRequest): object {
    if (document === 'TimelineNews') {
      return { timelineNews: { count: 0, changed: false, pollCursor: 'c' } }
    }
    if (document === 'Timeline') {
      const ids =
        strategy === undefined ? this.polled : strategy === 'INBOX' ? this.inbox : this.truth
      const { pending } = this
      const servedBy = strategy === 'INBOX' ? this.servedBy : 'FANOUT_ON_READ'
      return { timeline: { pollCursor: 'c', pending, servedBy, ...pageOf(ids.map(nodeOf)) } }
    }
    const nodes = {
      UserPosts: { posts: pageOf(this.posts) },
      Following: { following: pageOf(this.following.map((name) => ({ id: name, handle: name }))) },
      LikedPosts: { likedPosts: pageOf(this.liked.map(nodeOf)) },
    }
    return { user: nodes[document as keyof typeof nodes] }
  }
}

const nodeOf = (id: string) => ({ id })
const postOf = (id: string, name: string) => ({ id, text: postText('run', name) })
const pageOf = (nodes: readonly object[]) => ({
  edges: nodes.map((node) => ({ node })),
  pageInfo: { hasNextPage: false, hasPreviousPage: false, endCursor: 'end' },
})

async function verify(deployment: Deployment, { settleSeconds = 0.2, polling = 0 } = {}) {
  const people = new People(['ann', 'ben'] as Handle[], 1)
  const journal = new Journal()
  for (const id of ['p1', 'p2']) journal.addPost(0, id)
  journal.addFollow(0, 1)
  journal.addLike(0, 'p3')
  const poller = new Poller(polling)
  await poller.load(deployment.ask)
  const world: World = { people, journal, pollers: new Pollers([poller]), runId: 'run' }
  const client = new PatientClient(deployment.ask, 1, () => {}, new AbortController().signal)
  const asked = { world, client, processes: 1, sample: 1, settleSeconds }
  return verifyRun({ ...asked, onProgress: () => {} })
}

/** What a verification finds: "KIND list of reader: item". */
async function differencesOf(deployment: Deployment): Promise<string[]> {
  const found = await verify(deployment)
  expect(found).toMatchObject({
    strategies: [{ name: 'INBOX', timelines: 1, pages: 1, pagesByFanoutOnRead: 0 }],
    ...{ pollers: 1, writers: 1, acknowledged: { posts: 2, follows: 1, likes: 1 }, unverified: 0 },
  })
  expect(found.differences).toBe(found.sample.length)
  return found.sample.map(({ kind, list, item = '' }) => `${kind} ${list}: ${item}`)
}

test('a verification of right lists finds nothing', async () => {
  expect(await differencesOf(new Deployment())).toEqual([])
})

test.concurrent.each<[string, (deployment: Deployment) => void, string]>([
  ['a missing entry', (d) => d.inbox.pop(), 'MISSING timeline INBOX: p1'],
  ['an entry that does not belong', (d) => d.inbox.push('x'), 'UNEXPECTED timeline INBOX: x'],
  ['a repeated entry', (d) => d.inbox.push('p3'), 'REPEATED timeline INBOX: p3'],
  ['a wrong order', (d) => d.inbox.reverse(), 'OUT_OF_ORDER timeline INBOX: p1'],
  ['a post that a poll missed', (d) => d.polled.shift(), 'MISSING poll: p3'],
  [
    'a delivery that does not end',
    (d) => Object.assign(d, { pending: true }),
    'STILL_PENDING timeline INBOX: ',
  ],
  ['a lost post', (d) => d.posts.pop(), 'MISSING posts: p1'],
  [
    'a post that was created twice',
    (d) => d.posts.push(postOf('p9', 'a')),
    `REPEATED posts: ${postText('run', 'a')}`,
  ],
  ['a lost follow', (d) => d.following.pop(), 'MISSING following: ben'],
  ['a follow that is listed twice', (d) => d.following.push('ben'), 'REPEATED following: ben'],
  ['a lost like', (d) => d.liked.pop(), 'MISSING likedPosts: p3'],
  ['a like that is listed twice', (d) => d.liked.push('p3'), 'REPEATED likedPosts: p3'],
])('a verification finds %s', async (_, damage, difference) => {
  const deployment = new Deployment()
  damage(deployment)
  expect(await differencesOf(deployment)).toEqual([difference])
})

test('a difference in an own list that another comparison does not find is none', async () => {
  const deployment = new Deployment()
  const [first, ...others] = deployment.posts
  deployment.posts = others
  let reads = 0
  deployment.before = ({ document }) => {
    if (document === 'UserPosts' && ++reads === 2 && first) deployment.posts = [first, ...others]
    return undefined
  }
  expect(await differencesOf(deployment)).toEqual([])
  expect(reads).toBe(2)
})

test('pages that FANOUT_ON_READ served are not verified', async () => {
  const found = await verify(Object.assign(new Deployment(), { servedBy: 'FANOUT_ON_READ' }))
  expect(found.strategies).toEqual([
    { name: 'INBOX', timelines: 1, pages: 1, pagesByFanoutOnRead: 1, posts: 0 },
  ])
  expect(found).toMatchObject({
    ...{ differences: 0, unverified: 1 },
    unverifiedSample: [{ list: 'timeline INBOX', reason: 'FANOUT_ON_READ served every page' }],
  })
})

test('a verification waits until the strategy serves the reader', async () => {
  const deployment = Object.assign(new Deployment(), { servedBy: 'FANOUT_ON_READ' })
  setTimeout(() => Object.assign(deployment, { servedBy: 'INBOX' }), 300)
  const found = await verify(deployment, { settleSeconds: 30 })
  expect(found).toMatchObject({ unverified: 0, strategies: [{ pagesByFanoutOnRead: 0, posts: 3 }] })
})

test('deliveries to pollers end before they are compared, whether or not they are sampled readers', async () => {
  const asked = new Set<number>()
  const deployment = new Deployment()
  deployment.before = ({ document, variables, as }) => {
    if (document === 'Timeline' && variables.first === 1) asked.add(as)
    return undefined
  }
  await verify(deployment, { polling: 1 })
  expect([...asked].sort()).toEqual([0, 1])
})

test('a list that is refused is noted, and the others are compared', async () => {
  const deployment = new Deployment()
  deployment.liked = []
  deployment.before = ({ document }) =>
    document === 'Following' ? { code: 'OK', data: { user: null } } : undefined
  const found = await verify(deployment)
  expect(found).toMatchObject({
    sample: [{ list: 'likedPosts', kind: 'MISSING' }],
    unverified: 1,
    unverifiedSample: [
      { reader: 'ann', list: 'following', reason: 'Following got NOT_FOUND: no such user' },
    ],
  })
})

test('a verification without answers fails with the code', async () => {
  const deployment = new Deployment()
  const ask = (async () => ({ code: 'UNAUTHENTICATED' })) as Ask
  await expect(differencesOf(Object.assign(deployment, { ask }))).rejects.toThrow(RequestFailure)
})

test('a client outside of the load waits as the answer says, says so once, and asks the next process at once', async () => {
  const codes = ['RATE_LIMITED', 'CONNECTION', 'CONNECTION', 'OK']
  const lines: string[] = []
  const ask = (async () => {
    const code = codes.shift() ?? 'OK'
    return { code, ...(code === 'RATE_LIMITED' && { retryAfterSeconds: 0.05 }), data: {} }
  }) as Ask
  const client = new PatientClient(ask, 3, (line) => lines.push(line), new AbortController().signal)
  const begin = performance.now()
  await client.request({ document: 'Viewer', variables: {}, as: 0 })
  expect(performance.now() - begin).toBeGreaterThan(40)
  expect(codes).toEqual([])
  expect(lines.map((line) => /RATE_LIMITED|CONNECTION/.exec(line)?.[0])).toEqual([
    'RATE_LIMITED',
    'CONNECTION',
  ])
})
