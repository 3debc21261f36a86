import { beforeAll, describe, expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'
import { type EdgeId, IdMint, type UserId } from '../../src/lib/ids.ts'
import { knowViewers, useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import {
  forOwnEntries,
  type MutationName,
  mutationCases,
  type Pair,
} from '../support/mutation-cases.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
const cases = mutationCases(app)
const mint = new IdMint(Date.now)
const crowd = Array.from({ length: 150 }, (_, n) => handle(`p${n}`))
const [unknown, famous] = [handle('unknown'), handle('famous')]

beforeAll(async () => {
  await openAccounts(app.services, [unknown, famous, ...crowd])
  await befriend(famous, crowd)
})

/** All other users follow the user, and the user follows all of them. */
async function befriend(user: UserId, others: readonly UserId[]) {
  const edge = (follower: UserId, followee: UserId) => {
    return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
  }
  const both = others.flatMap((other) => [edge(user, other), edge(other, user)])
  await storeEdges(app.services, both)
}

/** The most commands of each mutation that changes something. */
const commandsMax = {
  ...forOwnEntries(() => 9),
  addComment: 9,
  deleteComment: 9,
  createUser: 12,
  updateUser: 6,
  deleteUser: 8,
  followUser: 14,
  // With a transaction that keeps the idempotency key of all follows.
  followUsers: 20,
  unfollowUser: 13,
  muteUser: 9,
  unmuteUser: 7,
  blockUser: 17,
  unblockUser: 8,
  setFollowGroups: 9,
  createPost: 7,
  deletePost: 8,
} satisfies Record<MutationName, number>

const names = Object.keys(commandsMax) as MutationName[]
const inputTypes = Object.fromEntries(
  Object.values(createSchema().getMutationType()?.getFields() ?? {}).map(({ name, args }) => [
    name,
    String(args[0]?.type),
  ]),
)

/**
 * The commands of a mutation’s first run, each of which must reach one shard and have a time limit.
 */
async function commandsOf(name: MutationName, pair: Pair) {
  const input = { ...(await cases[name].ready(pair)), clientMutationId: 'once' }
  const query = `mutation ($input: ${inputTypes[name]}) { ${name}(input: $input) { clientMutationId } }`
  // The server remembers the account of a subject.
  await knowViewers(app, pair.viewer)
  const { result, commands } = await recorded(app.database.client, () =>
    app.send({ as: pair.viewer, query, variables: { input } }),
  )
  expect(result.errors).toEqual([])
  expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
  return labelsOf(commands)
}

test.each(names)('%s has a fixed cost for any number of followers', async (name) => {
  const [quiet, loud] = [
    handle(`quiet-${name}`.toLowerCase()),
    handle(`loud-${name}`.toLowerCase()),
  ]
  await openAccounts(app.services, [quiet, loud])
  if (name !== 'createUser') await befriend(loud, crowd)
  const labels = await commandsOf(name, { viewer: quiet, other: unknown })
  noteFact(`${name}: ${labels.length} commands: ${labels.join(', ')}`)
  expect(labels).toContain('commitTransaction')
  expect(labels.length).toBeLessThanOrEqual(commandsMax[name])
  expect(await commandsOf(name, { viewer: loud, other: famous })).toEqual(labels)
})

test('a failed mutation removes nothing from the results of other mutations in the request', async () => {
  const me = handle('half')
  await openAccounts(app.services, [me])
  const query = `mutation {
    a: createPost(input: { text: "kept" }) { post { text } }
    b: followUser(input: { user: { handle: "nobody-there"} }) { changed }
  }`
  const { data, errors } = await app.send({ as: me, query })
  expect(data).toEqual({ a: { post: { text: 'kept' } }, b: null })
  expect(errors.map(({ path }) => path)).toEqual([['b']])
})

describe('the selection of a mutation shows its effect, also after other mutations', () => {
  const [me, you] = [handle('me'), handle('you')]
  const input = '(input: { user: { handle: "you" } })'
  beforeAll(() => openAccounts(app.services, [me, you]))

  async function run(query: string) {
    const { data, errors } = await app.send({ as: me, query: `mutation { ${query} }` })
    expect(errors).toEqual([])
    return data
  }

  test('repeated follows in one request show the relation, the counters and both lists after each', async () => {
    const seen = `{ changed user { viewerFollows followerCount
      followers(first: 5) { edges { node { handle followingCount } } } } }`
    const data = await run(
      `a: followUser${input} ${seen} b: unfollowUser${input} ${seen} c: followUser${input} ${seen}`,
    )
    const followed = {
      changed: true,
      user: {
        viewerFollows: true,
        followerCount: 1,
        followers: { edges: [{ node: { handle: me, followingCount: 1 } }] },
      },
    }
    const user = { viewerFollows: false, followerCount: 0, followers: { edges: [] } }
    expect(data).toEqual({ a: followed, b: { changed: true, user }, c: followed })
  })

  test('mutes and blocks in one request show the relation after each', async () => {
    const seen = '{ user { viewerHasMuted viewerHasBlocked } }'
    const data = await run(
      ['mute', 'block', 'unmute', 'unblock']
        .map((one) => `${one}: ${one}User${input} ${seen}`)
        .join(' '),
    )
    const user = (viewerHasMuted: boolean, viewerHasBlocked: boolean) => {
      return { user: { viewerHasMuted, viewerHasBlocked } }
    }
    expect(data).toEqual({
      mute: user(true, false),
      block: user(true, true),
      unmute: user(false, true),
      unblock: user(false, false),
    })
  })

  test('changes of groups in one request show the groups after each', async () => {
    await app.services.follows.follow(me, you)
    const set = (groups: string) =>
      `setFollowGroups(input: { user: { handle: "you"}, groups: ${groups} }) { groups user { viewerGroups } }`
    const data = await run(`a: ${set('["b", "a"]')} b: ${set('["c"]')} c: ${set('[]')}`)
    const groups = (...names: string[]) => ({ groups: names, user: { viewerGroups: names } })
    expect(data).toEqual({ a: groups('a', 'b'), b: groups('c'), c: groups() })
  })

  test('two posts in one request show the counter and the list after each', async () => {
    const create = (text: string) => `createPost(input: { text: "${text}" }) {
      post { author { postCount posts(first: 5) { edges { node { text } } } } } }`
    const data = await run(`a: ${create('one')} b: ${create('two')}`)
    const author = (...texts: string[]) => {
      const edges = texts.map((text) => ({ node: { text } }))
      return { post: { author: { postCount: texts.length, posts: { edges } } } }
    }
    expect(data).toEqual({ a: author('one'), b: author('two', 'one') })
  })

  test('profile changes in one request show the profile after each', async () => {
    const rename = (name: string) => `updateUser(input: { name: "${name}" }) { user { name } }`
    const data = await run(`a: ${rename('A')} b: ${rename('B')}`)
    expect(data).toEqual({ a: { user: { name: 'A' } }, b: { user: { name: 'B' } } })
  })
})
