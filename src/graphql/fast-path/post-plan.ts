import { createHash } from 'node:crypto'
import type { FieldNode, GraphQLObjectType } from 'graphql'
import {
  type CountField,
  countFields,
  type EngagementKind,
  viewerFields,
} from '../../engagement/kinds.ts'
import { profileLeaves } from '../../entities/account.ts'
import { namesOf } from '../../entities/leaves.ts'
import { postLeaves } from '../../entities/post.ts'
import type { UserId } from '../../lib/ids.ts'
import { timeOf } from '../../lib/ids.ts'
import { nameFacets } from '../../posts/facets.ts'
import type { Post } from '../../posts/post.ts'
import type { User } from '../../users/profile.ts'
import { postNodeId, userNodeId } from '../node-id.ts'
import { allFieldsOf, type Field, fieldsOf, type Scope, textOf, Unplanned } from './fields.ts'

/** An author, as all readers see them. */
export interface ShownAuthor {
  readonly author: User
}

/** A post with its author, as all readers see it. */
export interface ShownPost extends ShownAuthor {
  readonly post: Post
}

/** What the reader's relations decide about an author. */
export interface AuthorFacts {
  readonly reader: UserId
  readonly followsAuthor: boolean
}

/** What the reader's relations decide about a post. */
export interface ReaderFacts extends AuthorFacts {
  /** The kinds of which the reader has an entry in the post. Undefined if no flag is selected. */
  readonly viewerHas: ReadonlySet<EngagementKind> | undefined
  /** The values of the fields that have no plan. Undefined if no such field is selected. */
  readonly rest: Readonly<Record<string, unknown>> | undefined
}

type Shared = (shown: ShownPost) => string
type Own = (shown: ShownPost, facts: ReaderFacts) => string

/**
 * A part of the JSON of a post:
 * - `shared`: the same for all readers, so it is rendered once and kept with the post;
 * - `own`: the reader or the current counts decide it, or graphql-js.
 */
type Part = { readonly shared: Shared } | { readonly own: Own }

/** As {@link Part}, of the JSON of an author. */
type AuthorPart =
  | { readonly shared: (shown: ShownAuthor) => string }
  | { readonly own: (shown: ShownAuthor, facts: AuthorFacts) => string }

/** How the JSON of posts is rendered: shared pieces, with a gap between each two. */
export interface PostPlan {
  /**
   * Names what is rendered: the same for equal selections of any documents. It refers to none of
   * them.
   */
  readonly key: string
  readonly render: (shown: ShownPost) => readonly string[]
  readonly gaps: readonly Own[]
  /** The fields that have no plan, which graphql-js executes. */
  readonly rest: readonly FieldNode[]
}

/** Plans a selection on a post. A field that only graphql-js answers is a gap. */
export function planPost(scope: Scope, post: Field): PostPlan {
  const pieces: Shared[][] = [[]]
  const gaps: Own[] = []
  const fields = allFieldsOf(scope, post)
  const planned = new Map(fields.map((field) => [field, planPostField(scope, field)]))
  for (const part of objectParts(fields, (field) => planned.get(field)?.parts ?? [restOf(field)])) {
    if ('shared' in part) pieces.at(-1)?.push(part.shared)
    else {
      gaps.push(part.own)
      pieces.push([])
    }
  }
  const render = (shown: ShownPost) =>
    pieces.map((writers) => writers.map((write) => write(shown)).join(''))
  const texts = fields.map((field) => planned.get(field)?.text ?? `${field.key}?`)
  const key = createHash('sha256').update(texts.join(' ')).digest('base64')
  const rest = fields.flatMap((field) => (planned.get(field) ? [] : field.nodes))
  return { key, render, gaps, rest }
}

/** @returns undefined for a field that only graphql-js answers. */
function planPostField(scope: Scope, field: Field) {
  if (field.hasArguments) return undefined
  try {
    return { parts: partsOfPost(scope)(field), text: textOf(scope, field) }
  } catch (error) {
    if (error instanceof Unplanned) return undefined
    throw error
  }
}

const restOf = ({ key }: Field): Part => ({
  own: (_, { rest }) => JSON.stringify(rest?.[key] ?? null),
})

/**
 * Plans a selection on an author. @throws {Unplanned} if it has a field that only graphql-js
 * answers.
 */
export function planAuthor(
  scope: Scope,
  author: Field,
): (shown: ShownAuthor, facts: AuthorFacts) => string {
  const parts = objectParts(fieldsOf(scope, author), partsOfAuthor)
  return (shown, facts) =>
    parts.map((part) => ('shared' in part ? part.shared(shown) : part.own(shown, facts))).join('')
}

const isCountField = (name: string): name is CountField => countFields.has(name as CountField)

const literal = (text: string) => ({ shared: () => text })

/** The parts of an object with some fields. */
const objectParts = <P>(
  fields: readonly Field[],
  partsOf: (field: Field) => readonly P[],
): readonly (P | ReturnType<typeof literal>)[] => [
  ...fields.flatMap((field, at) => [
    literal(`${at === 0 ? '{' : ','}${JSON.stringify(field.key)}:`),
    ...partsOf(field),
  ]),
  literal('}'),
]

const partsOfPost =
  (scope: Scope) =>
  (field: Field): readonly Part[] => {
    const { name } = field
    if (name === 'author') return objectParts(fieldsOf(scope, field), partsOfAuthor)
    if (name === 'viewerCanDelete')
      return [{ own: ({ post }, { reader }) => String(post.author === reader) }]
    const kind = viewerFields.get(name)
    if (kind) return [{ own: (_, { viewerHas }) => String(viewerHas?.has(kind) ?? false) }]
    if (isCountField(name)) return [{ own: ({ post }) => String(post[name]) }]
    if (name === 'attachments') {
      const write = listWriter(scope, field)
      return [{ shared: ({ post }) => write(post.attachments) }]
    }
    if (name === 'facets') {
      const write = listWriter(scope, field)
      return [{ shared: ({ post }) => write(nameFacets(post.text, post.facets)) }]
    }
    const value = postValues[name]
    if (!value) throw new Unplanned()
    return [{ shared: ({ post }) => JSON.stringify(value(post) ?? null) }]
  }

/** What reads each leaf of a table, as JSON shows it. */
const leavesOf = <Table extends object>(table: Table) =>
  Object.fromEntries(
    namesOf(table).map((name) => [
      name,
      (of: { readonly [Name in keyof Table]?: unknown }) => of[name],
    ]),
  )

const postValues: Readonly<Record<string, (post: Post) => unknown>> = {
  ...leavesOf(postLeaves),
  __typename: () => 'Post',
  id: postNodeId,
  createdAt: ({ id }) => timeOf(id).toISOString(),
}

function partsOfAuthor({ name }: Field): readonly AuthorPart[] {
  if (name === 'isViewer')
    return [{ own: ({ author }, { reader }) => String(author.id === reader) }]
  if (name === 'viewerFollows') return [{ own: (_, { followsAuthor }) => String(followsAuthor) }]
  const value = authorValues[name]
  if (!value) throw new Unplanned()
  return [{ shared: ({ author }) => JSON.stringify(value(author) ?? null) }]
}

const authorValues: Readonly<Record<string, (author: User) => unknown>> = {
  ...leavesOf(profileLeaves),
  __typename: () => 'User',
  id: ({ id }) => userNodeId(id),
  handle: ({ handle }) => handle,
  name: ({ name }) => name,
  createdAt: ({ createdAt }) => createdAt.toISOString(),
}

/** Writes a list of objects without resolvers, whose selected fields are leaves. */
function listWriter(scope: Scope, list: Field): (items: readonly object[]) => string {
  const type = list.type as GraphQLObjectType
  const fields = fieldsOf(scope, list).map(({ key, name, isLeaf }) => {
    if (!isLeaf) throw new Unplanned()
    const before = `${JSON.stringify(key)}:`
    return name === '__typename'
      ? () => before + JSON.stringify(type.name)
      : (item: object) => before + JSON.stringify((item as Record<string, unknown>)[name] ?? null)
  })
  return (items) =>
    `[${items.map((item) => `{${fields.map((write) => write(item)).join(',')}}`).join(',')}]`
}
