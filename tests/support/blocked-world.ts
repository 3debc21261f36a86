import { type EngagementKind, engagementKinds, kinds } from '../../src/engagement/kinds.ts'
import { profileLeaves } from '../../src/entities/account.ts'
import { namesOf as namesOfTable } from '../../src/entities/leaves.ts'
import {
  engagementNodeId,
  findNodeRef,
  postNodeId,
  userNodeId,
  viewerNodeId,
} from '../../src/graphql/node-id.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { namesOf, subjectOf } from './services.ts'

/** The types whose objects a block can hide. */
export const hiddenTypes = ['User', 'Post', ...engagementKinds.map((kind) => kinds[kind].node.type)]

/**
 * The fields that show a hidden user, reduced to the handle, so that the viewer can end the block.
 */
const reducedAt = new Set([
  'Query.user',
  'Query.node',
  'Query.nodes',
  'Viewer.blocks',
  'Viewer.mutes',
  ...['Follow', 'Unfollow', 'Mute', 'Unmute', 'Block', 'Unblock'].map(
    (name) => `${name}UserPayload.user`,
  ),
  'FollowUsersResult.user',
  'SetFollowGroupsPayload.user',
])

const pictures = 'https://pictures.example'

/** An object of an answer, with the field of the schema that returned it. */
export interface Shown {
  readonly place: string
  // biome-ignore lint/suspicious/noExplicitAny: an object of any type of the schema
  readonly object: any
}

/**
 * Users that follow each other, each with a post, and each with a like, comment and share of each
 * post.
 */
export class BlockedWorld {
  private readonly posts = new Map<UserId, PostRef>()
  private readonly entries = new Map<string, string>()

  constructor(readonly people: readonly UserId[]) {}

  async create({ users, posts, follows, engagements }: Services): Promise<void> {
    for (const user of this.people) {
      await users.create(user, {
        ...namesOf(user),
        ...{ name: `name of ${user}`, bio: `bio of ${user}` },
        ...{
          avatarUrl: `${pictures}/avatar-of-${user}`,
          bannerUrl: `${pictures}/banner-of-${user}`,
        },
      })
      this.posts.set(user, await posts.create(user, { text: this.textBy(user) }))
    }
    for (const user of this.people) {
      for (const other of this.people) {
        if (other !== user) await follows.follow(user, other)
        for (const kind of engagementKinds) {
          const post = this.postOf(other)
          const { entry } = await engagements.add(kind, user, post, { text: this.textBy(user) })
          const key = kinds[kind].key === 'actor' ? user : entry.id
          this.entries.set(`${kind} ${user} ${other}`, engagementNodeId({ kind, post, key }))
        }
      }
    }
  }

  /** A text by a user that mentions all. */
  textBy(user: UserId): string {
    return `by ${user} to ${this.people.map((one) => `@${one}`).join(' ')}`
  }

  postOf(user: UserId): PostRef {
    return this.posts.get(user) as PostRef
  }

  /** The key of the comment of `actor` on the user's post. */
  commentOf(user: UserId, actor: UserId): string {
    const ref = findNodeRef(this.idOf('Comment', user, actor))
    return ref?.type === 'Engagement' ? ref.key : ''
  }

  /** The global id of a user, a user's post, or the engagement of `actor` with the user's post. */
  idOf(type: string, user: UserId, actor: UserId): string {
    if (type === 'User') return userNodeId(user)
    if (type === 'Viewer') return viewerNodeId(subjectOf(user))
    if (type === 'Post') return postNodeId(this.postOf(user))
    const kind = engagementKinds.find((one) => kinds[one].node.type === type) as EngagementKind
    return this.entries.get(`${kind} ${actor} ${user}`) as string
  }
}

/** All users, posts and engagement in an answer whose objects name their types. */
export function objectsIn(value: unknown, place: string): Shown[] {
  if (Array.isArray(value)) return value.flatMap((item) => objectsIn(item, place))
  if (typeof value !== 'object' || value === null) return []
  const type = '__typename' in value ? (value.__typename as string) : undefined
  const below = Object.entries(value).flatMap(([key, child]) =>
    objectsIn(child, type === undefined ? place : `${type}.${key}`),
  )
  return type && hiddenTypes.includes(type) ? [{ place, object: value }, ...below] : below
}

/**
 * Whether an object is one that a block between the viewer and `hidden` hides, or the hidden user.
 */
export function belongsTo({ object }: Shown, hidden: UserId, viewer: UserId): boolean {
  const ref = findNodeRef(object.id)
  if (!ref) throw new Error(`${object.id} is no id`)
  if (ref.type === 'Viewer') return object.id === viewerNodeId(subjectOf(hidden))
  if (ref.type === 'User') return ref.account === hidden
  if (ref.type === 'Post') return ref.post.author === hidden
  const isBy = (user: UserId) => ref.key === user || object.text?.startsWith(`by ${user} `)
  return isBy(hidden) || (ref.post.author === hidden && !isBy(viewer))
}

/** What an answer to `viewer` shows in spite of a block between the viewer and `hidden`. */
export function leaksIn(data: object, root: string, hidden: UserId, viewer: UserId): string[] {
  const shown = objectsIn({ __typename: root, ...data }, root)
  const leaks = shown
    .filter((one) => belongsTo(one, hidden, viewer))
    .filter(({ place, object }) => !(reducedAt.has(place) && isReduced(object)))
    .map(({ place, object }) => `${place}: ${JSON.stringify(object).slice(0, 200)}`)
  const text = JSON.stringify(data)
  const marks = [
    ...[`name of ${hidden}`, `bio of ${hidden}`, `"by ${hidden} `],
    ...[`/avatar-of-${hidden}"`, `/banner-of-${hidden}"`],
  ]
  return [...leaks, ...marks.filter((mark) => text.includes(mark))]
}

/** Whether an answer shows no more of a user than what a block leaves. */
export const isReduced = (user: Shown['object']): boolean =>
  !showsProfile(user) && !showsLists(user)

/** Whether an answer shows the profile of a user, or a number of it. */
export function showsProfile(user: Shown['object']): boolean {
  const profile = namesOfTable(profileLeaves).map((name) => user[name])
  const hidden = [...profile, user.followerCount, user.followingCount, user.postCount]
  const totals = listsOf(user).map(({ totalCount }) => totalCount)
  return user.name !== user.handle || [...hidden, ...totals].some((value) => value != null)
}

/** Whether an answer shows an item of a list of a user or post. */
export const showsLists = (owner: Shown['object']): boolean =>
  listsOf(owner).some(({ edges }) => !Array.isArray(edges) || edges.length > 0)

const listsOf = (owner: Shown['object']) =>
  Object.values(owner).filter(
    (value): value is { edges: unknown; totalCount?: unknown } =>
      typeof value === 'object' && value !== null && 'edges' in value,
  )
