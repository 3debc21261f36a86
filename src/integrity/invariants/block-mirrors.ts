import type { RestrictionDoc } from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import { conforms, shapes } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { raiseVersions, relationsOf } from '../../db/versions.ts'
import type { EdgeId } from '../../lib/ids.ts'
import {
  findingOf,
  type IntegrityServices,
  type Invariant,
  type Verdict,
  type Violation,
} from '../invariant.ts'
import { nameOf } from '../pairs.ts'
import { hasMalformed, uncertain } from './document-shapes.ts'

const invariant = { name: 'block-mirrors', law: 'L3' } as const

type Block = Pick<RestrictionDoc, 'owner' | 'other'> & { readonly kind: 'BLOCK' | 'BLOCKED_BY' }

const mirrorKind = { BLOCK: 'BLOCKED_BY', BLOCKED_BY: 'BLOCK' } as const
const mirrorOf = ({ owner, other, kind }: Block): Block => ({
  owner: other,
  other: owner,
  kind: mirrorKind[kind],
})
const keyOf = ({ owner, other, kind }: Pick<RestrictionDoc, 'owner' | 'other' | 'kind'>) =>
  `${owner} ${other} ${kind}`

interface MirrorViolation extends Violation {
  readonly block: Block
}

/**
 * Law L3: each BLOCK has its mirror BLOCKED_BY under the other user, and each mirror has its BLOCK. Timeline reads rely
 * on the mirrors (law L1). The repair inserts a missing mirror. It deletes a mirror without a BLOCK, since only the
 * BLOCK records an action of a user.
 */
export const blockMirrors = (
  services: IntegrityServices,
): Invariant<object, Block, MirrorViolation> => {
  const { collections, mint } = services
  const { restrictions, users } = collections
  return {
    ...invariant,
    async *scan(handles) {
      const mirror = {
        from: restrictions.collectionName,
        localField: 'other',
        foreignField: 'owner',
        let: { owner: '$owner', kind: '$kind' },
        pipeline: [
          {
            $match: {
              kind: { $in: ['BLOCK', 'BLOCKED_BY'] },
              $expr: { $and: [{ $eq: ['$other', '$$owner'] }, { $ne: ['$kind', '$$kind'] }] },
            },
          },
          { $limit: 1 },
          { $project: { _id: 1 } },
        ] satisfies Document[],
      }
      yield* restrictions.aggregate<Block>([
        { $match: { owner: handles, kind: { $in: ['BLOCK', 'BLOCKED_BY'] } } },
        { $lookup: { ...mirror, as: 'mirror' } },
        { $match: { mirror: { $size: 0 } } },
        { $project: { owner: 1, other: 1, kind: 1 } },
      ])
    },
    async recheck(blocks, at): Promise<Verdict<MirrorViolation>> {
      const asked = blocks.flatMap(({ owner, other, kind }): Block[] => {
        const own = { owner, other, kind }
        return [own, mirrorOf(own)]
      })
      const found = await restrictions.find({ $or: asked }, { ...at }).toArray()
      const readable = found.filter((one) => conforms(shapes.restrictions, one))
      const standing = new Set(readable.map(keyOf))
      const handles = asked.map(({ owner }) => owner)
      const leaving = await leavingAmong(users, handles, at)
      const alone = blocks.filter(
        (one) => standing.has(keyOf(one)) && !standing.has(keyOf(mirrorOf(one))),
      )
      // A purge deletes the two documents in two commands.
      const lasting = alone.filter(({ owner, other }) => !leaving.has(owner) && !leaving.has(other))
      const isUncertain =
        lasting.some(({ kind }) => kind === 'BLOCKED_BY') &&
        (await hasMalformed(services, 'restrictions'))
      const violations = lasting.map(({ owner, other, kind }) => ({
        block: { owner, other, kind },
        finding: findingOf(invariant, {
          kind: 'mirror',
          subject: nameOf({ follower: owner, followee: other }),
          expected: `${mirrorKind[kind]} on the other side`,
          found: `${kind} alone`,
          ...(isUncertain && kind === 'BLOCKED_BY' ? uncertain : {}),
        }),
      }))
      return { violations, inFlight: alone.length - lasting.length }
    },
    // An unblock deletes the document that this command changes, so only one of the two commits.
    lock: ({ session }, blocks) =>
      restrictions.updateMany(
        { $or: blocks.map(({ owner, other, kind }) => ({ owner, other, kind })) },
        { $inc: { repairs: 1 } },
        { session },
      ),
    async repair(tx, violations) {
      const { session } = tx
      const those = (kind: Block['kind']) =>
        violations.flatMap(({ block }) => (block.kind === kind ? [block] : []))
      const [owned, mirrors] = [those('BLOCK'), those('BLOCKED_BY')]
      if (owned.length > 0) {
        const docs = owned.map((block) => ({
          _id: toObjectId(mint.next<EdgeId>()),
          ...mirrorOf(block),
        }))
        await restrictions.insertMany(docs, { session })
      }
      if (mirrors.length > 0) await restrictions.deleteMany({ $or: mirrors }, { session })
      const users = violations.flatMap(({ block: { owner, other } }) => [owner, other])
      await raiseVersions(collections, relationsOf(users), tx)
    },
  }
}

async function leavingAmong(
  users: IntegrityServices['collections']['users'],
  handles: readonly string[],
  at: Tx,
): Promise<ReadonlySet<string>> {
  const leaving = { _id: { $in: [...new Set(handles)] }, deletedAt: { $exists: true } }
  const found = await users.find(leaving, { ...at }).toArray()
  return new Set(found.map(({ _id }) => _id))
}
