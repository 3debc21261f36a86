import type { Tx } from '../db/transaction.ts'
import type { StoredEdge } from '../follows/edges.ts'
import { lonelyEdges, nameOf, type Pair, sidesOf } from '../reconcile/sides.ts'
import { type HandleRange, within } from '../reconcile/walk.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'

/**
 * Edges of a range that both collections should hold and do not, or not as the same edge (law L3). Nothing under
 * `reverse-index`. Two commands, each of which seeks once for every edge; on a sharded cluster every seek asks all shards.
 */
export async function* sideDifferences(
  services: VerifyServices,
  range: HandleRange,
  tally: Tally,
): AsyncGenerator<Difference> {
  const { followers, following } = sidesOf(services.edges)
  if (!following) return
  const ahead = lonelyEdges(followers, following, within(range), 'follower')
  yield* confirmed(services, ahead, (some, tx) => looked(services, some, tx), tally)
  const back = lonelyEdges(following, followers, within(range), 'followee')
  // One that is in followers too was told of above.
  const isAlone = ({ found }: Difference) => found === alone('following')
  const look = async (some: readonly Pair[], tx: Tx) => {
    const { differences } = await looked(services, some, tx)
    return { differences: differences.filter(isAlone) }
  }
  yield* confirmed(services, back, look, tally)
}

const alone = (name: string) => `in ${name} alone`

async function looked(services: VerifyServices, pairs: readonly Pair[], tx: Tx): Promise<Verdict> {
  const { followers, following } = sidesOf(services.edges)
  const [ahead, back] = [new Map<string, StoredEdge>(), new Map<string, StoredEdge>()]
  const inFollowers = pairs.map(({ follower, followee }) => ({ user: followee, follower }))
  for (const doc of await followers.find({ $or: inFollowers }, { ...tx }).toArray()) {
    ahead.set(nameOf({ follower: doc.follower ?? '', followee: doc.user }), doc)
  }
  const inFollowing = pairs.map(({ follower, followee }) => ({ user: follower, followee }))
  for (const doc of (await following?.find({ $or: inFollowing }, { ...tx }).toArray()) ?? []) {
    back.set(nameOf({ follower: doc.user, followee: doc.followee ?? '' }), doc)
  }
  const differences = pairs.flatMap((pair): Difference[] => {
    const subject = nameOf(pair)
    const [one, other] = [ahead.get(subject), back.get(subject)]
    const found = [one && 'followers', other && 'following'].filter(Boolean).join()
    const wrong = (expected: string, found: string): Difference[] => [
      { law: 'L3', kind: 'sides', subject, expected, found },
    ]
    if (!one !== !other) return wrong('in followers and in following', alone(found))
    if (!one || !other) return []
    const [a, b] = [one, other].map(({ _id, source }) => `${_id} ${source}`)
    return a === b ? [] : wrong(`the same edge in both: ${a}`, `in following ${b}`)
  })
  return { differences }
}
