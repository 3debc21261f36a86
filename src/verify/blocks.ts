import type { RestrictionDoc } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { nameOf } from '../reconcile/sides.ts'
import { type HandleRange, within } from '../reconcile/walk.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'

type Block = Pick<RestrictionDoc, 'owner' | 'other'> & { readonly kind: 'BLOCK' | 'BLOCKED_BY' }

const kinds = ['BLOCK', 'BLOCKED_BY'] as const
const mirrorOf = { BLOCK: 'BLOCKED_BY', BLOCKED_BY: 'BLOCK' } as const

/**
 * Edges of a range's owners across a block, and blocks that only one side knows of (law L3, and what law L1 is read
 * by). Each side's document answers for the edge from its owner. One command, which seeks twice for every block.
 */
export function blockDifferences(
  services: VerifyServices,
  range: HandleRange,
  tally: Tally,
): AsyncGenerator<Difference> {
  const look = (some: readonly Block[], tx: Tx) => looked(services, some, tx)
  return confirmed(services, suspects(services, range), look, tally)
}

function suspects({ collections, edges }: VerifyServices, range: HandleRange) {
  const { restrictions } = collections
  const other = (from: string, localField: string, foreignField: string, rest: object) => ({
    from,
    localField,
    foreignField,
    let: { owner: '$owner', kind: '$kind' },
    pipeline: [{ $match: rest }, { $limit: 1 }, { $project: { _id: 1 } }],
  })
  const isOwner = (field: string) => ({ $expr: { $eq: [field, '$$owner'] } })
  const edge = other(
    edges.followers.collection.collectionName,
    'other',
    'user',
    isOwner('$follower'),
  )
  const mirror = other(restrictions.collectionName, 'other', 'owner', {
    kind: { $in: [...kinds] },
    $expr: { $and: [{ $eq: ['$other', '$$owner'] }, { $ne: ['$kind', '$$kind'] }] },
  })
  return restrictions.aggregate<Block>([
    { $match: { owner: within(range), kind: { $in: [...kinds] } } },
    { $lookup: { ...edge, as: 'edge' } },
    { $lookup: { ...mirror, as: 'mirror' } },
    { $match: { $or: [{ 'edge.0': { $exists: true } }, { mirror: { $size: 0 } }] } },
    { $project: { owner: 1, other: 1, kind: 1 } },
  ])
}

async function looked(
  { collections, edges }: VerifyServices,
  blocks: readonly Block[],
  tx: Tx,
): Promise<Verdict> {
  const { restrictions, users } = collections
  const asked = blocks.flatMap(({ owner, other, kind }) => [
    { owner, other, kind },
    { owner: other, other: owner, kind: mirrorOf[kind] },
  ])
  const keyOf = ({ owner, other, kind }: Omit<RestrictionDoc, '_id'>) => `${owner} ${other} ${kind}`
  const standing = new Set(
    (await restrictions.find({ $or: asked }, { ...tx }).toArray()).map(keyOf),
  )
  const ways = blocks.map(({ owner, other }) => ({ user: other, follower: owner }))
  const crossing = new Set(
    (await edges.followers.collection.find({ $or: ways }, { ...tx }).toArray()).map(
      ({ user, follower = '' }) => nameOf({ follower, followee: user }),
    ),
  )
  // A purge removes the two documents one after the other.
  const leaving = await leavingAmong(
    users,
    asked.map(({ owner }) => owner),
    tx,
  )
  const there = blocks.filter((block) => standing.has(keyOf(block)))
  const edge = there.filter((block) => crossing.has(wayOf(block)))
  const alone = there.filter(
    ({ owner, other, kind }) =>
      !standing.has(keyOf({ owner: other, other: owner, kind: mirrorOf[kind] })),
  )
  const clearing = alone.filter(({ owner, other }) => leaving.has(owner) || leaving.has(other))
  const found = (kind: string, expected: string, found: string) => (block: Block) =>
    ({ law: 'L3', kind, subject: wayOf(block), expected, found }) as const
  return {
    differences: [
      ...edge.map(found('block', 'no edge across a block', 'an edge')),
      ...alone
        .filter((block) => !clearing.includes(block))
        .map((block) =>
          found(
            'mirror',
            `${mirrorOf[block.kind]} on the other side`,
            `${block.kind} alone`,
          )(block),
        ),
    ],
    inFlight: clearing.length,
  }
}

const wayOf = ({ owner, other }: Block) => nameOf({ follower: owner, followee: other })

/** Which of `handles` are deleted accounts that are still being cleared. */
export async function leavingAmong(
  users: VerifyServices['collections']['users'],
  handles: readonly string[],
  tx: Tx,
): Promise<ReadonlySet<string>> {
  const found = await users
    .find({ _id: { $in: [...new Set(handles)] }, deletedAt: { $exists: true } }, { ...tx })
    .toArray()
  return new Set(found.map(({ _id }) => _id))
}
