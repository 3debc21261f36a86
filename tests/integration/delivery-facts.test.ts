import { expect, test } from 'vitest'
import { type EdgeId, IdMint, type PostId, type UserId } from '../../src/lib/ids.ts'
import { DeliveryFactsReader } from '../../src/timeline/delivery/delivery-facts.ts'
import { entryContents } from '../../src/timeline/entries.ts'
import { labelsOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const [following = 'collection'] = sampledFollowing(0)
const harness = useServices(following, undefined, { maintained: ['INBOX', 'CACHE'] })
const followers = Array.from({ length: 4_500 }, (_, n) => handle(`r${String(n).padStart(4, '0')}`))
const plain = ['read followers', 'read posts', 'read strategies']
const aggregate = 'read strategies, posts, followers'

/** A post of a new author with followers, and where its delivery goes on. */
interface Case {
  readonly author: string
  readonly followers: number
  readonly after?: string
  readonly state?: 'deleted' | 'another author’s' | 'without an account'
}

/** Publishes the post of a case without a delivery. */
async function prepare({ author: name, followers: count, after = '', state }: Case) {
  const { services, clock } = harness
  const author = handle(name)
  await openAccounts(services, [author])
  const mint = new IdMint(clock.now)
  const edges = followers.slice(0, count).map((follower) => {
    return { id: mint.next<EdgeId>(), follower, followee: author, source: 'IMPORT' as const }
  })
  await storeEdges(services, edges)
  const { user_stats } = services.collections
  await user_stats.updateOne({ _id: author }, { $set: { followers: count } })
  const { id } = await services.posts.create(author, { text: `of ${name}` })
  if (state === 'deleted') await services.posts.delete(author, { id, author })
  if (state === 'without an account') await user_stats.deleteOne({ _id: author })
  const owner = state === 'another author’s' ? handle('someone') : author
  return { post: { id: id as PostId, author: owner as UserId }, after }
}

const cases: Readonly<Record<string, { readonly of: readonly Case[]; readonly sent: string[] }>> = {
  'small audiences': {
    of: [
      { author: 'sm-a', followers: 30 },
      { author: 'sm-b', followers: 0 },
      { author: 'sm-c', followers: 1, state: 'deleted' },
      { author: 'sm-d', followers: 2, state: 'another author’s' },
      { author: 'sm-e', followers: 3, state: 'without an account' },
    ],
    sent: plain,
  },
  'an audience beyond a window before smaller ones': {
    of: [
      { author: 'lg-a', followers: 20 },
      { author: 'lg-b', followers: 4_500 },
      { author: 'lg-c', followers: 30 },
      { author: 'lg-d', followers: 0 },
    ],
    sent: [...plain, aggregate],
  },
  'audiences that fill the plain reads exactly': {
    of: [
      { author: 'ex-a', followers: 1_999 },
      { author: 'ex-b', followers: 2_000 },
      { author: 'ex-c', followers: 1 },
      { author: 'ex-d', followers: 0 },
    ],
    sent: [...plain, aggregate],
  },
  'walks that go on': {
    of: [
      { author: 'on-a', followers: 2_500, after: 'r1999' },
      { author: 'on-b', followers: 40 },
      { author: 'on-c', followers: 40, after: 'r0009' },
      { author: 'on-d', followers: 2_500 },
    ],
    sent: [...plain, aggregate],
  },
}

test.each(Object.entries(cases))(
  'deliveries that read their facts together read what each reads alone: %s',
  async (_, { of, sent }) => {
    const { services, database } = harness
    const { posts, collections, edges, registry } = services
    const asked: Awaited<ReturnType<typeof prepare>>[] = []
    for (const one of of) asked.push(await prepare(one))
    for (const contents of entryContents) {
      const reader = new DeliveryFactsReader({ posts, collections, edges, contents, registry })
      const load = ({ post, after }: (typeof asked)[number]) => reader.loadFacts(post, after)
      const alone = []
      for (const one of asked) alone.push(await load(one))
      const { result, commands } = await recorded(database.client, () =>
        Promise.all([...asked, ...asked].map(load)),
      )
      expect(result).toEqual([...alone, ...alone])
      expect(labelsOf(commands)).toEqual([...sent].sort())
    }
  },
)
