import { isObjectType } from 'graphql'
import { beforeAll, expect, test } from 'vitest'
import { groupsPerUserMax } from '../../src/follows/groups.ts'
import { pageSizeDefault } from '../../src/graphql/connection.ts'
import { limits as constants } from '../../src/graphql/limits.ts'
import { usersMax } from '../../src/graphql/mutation-types.ts'
import { postNodeId } from '../../src/graphql/node-id.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import { blurhashLengthMax } from '../../src/posts/blurhash.ts'
import { pixelsMax } from '../../src/posts/content.ts'
import { facetsMax } from '../../src/posts/facets.ts'
import { newsMax } from '../../src/timeline/pages/news.ts'
import { useApp } from '../support/app.ts'
import { handle, namesOf } from '../support/services.ts'

const app = useApp()
const [ann, ben] = [handle('ann'), handle('ben')]
let limits: Readonly<Record<string, number>>
let post: PostRef

const type = createSchema().getType('Limits')
const names = isObjectType(type) ? Object.keys(type.getFields()) : []

beforeAll(async () => {
  const { users, follows, posts } = app.services
  for (const one of [ann, ben]) await users.create(one, { ...namesOf(one), name: one })
  await follows.follow(ann, ben)
  post = await posts.create(ann, { text: 'a post' })
  limits = (await app.send({ query: `{ limits { ${names.join(' ')} } }` })).data.limits
})

/** Sends a mutation of ann. @returns the code of its error. */
const codeOf = async (query: string, input?: object) => {
  const { errors } = await app.send({ as: ann, query, variables: { input } })
  return errors[0]?.extensions.code
}
const mutation = (name: string, input: object) =>
  codeOf(
    `mutation ($input: ${name.replace(/^./, (first) => first.toUpperCase())}Input!) {
      ${name}(input: $input) { clientMutationId } }`,
    input,
  )
const page = (first: number) => codeOf(`{ timeline(first: ${first}) { edges { cursor } } }`)
/** A text of a size in bytes, mostly of one emoji with 25 bytes. */
const heavy = (size: number) => '👩‍👩‍👧‍👦'.repeat(Math.floor(size / 25)) + 'x'.repeat(size % 25)
const url = (length: number) => 'https://a.example/'.padEnd(length, 'x')
const image = (size: number) => ({ url: url(size), kind: 'IMAGE' })
const withAlt = (alt: string) =>
  mutation('createPost', { text: 'x', attachments: [{ ...image(30), alt }] })
const groups = (named: readonly string[]) =>
  mutation('setFollowGroups', { user: { handle: 'ben' }, groups: named })
const numbered = (size: number) => Array.from({ length: size }, (_, n) => `g${n}`)

/**
 * A request of a size, for each limit that a request alone can reach. @returns the code of its
 * error.
 */
const requests: Readonly<Record<string, (size: number) => Promise<string | undefined>>> = {
  postTextLengthMax: (size) => mutation('createPost', { text: 'x'.repeat(size) }),
  postTextBytesMax: (size) => mutation('createPost', { text: heavy(size) }),
  commentTextLengthMax: (size) =>
    mutation('addComment', { postId: postNodeId(post), text: 'x'.repeat(size) }),
  commentTextBytesMax: (size) =>
    mutation('addComment', { postId: postNodeId(post), text: heavy(size) }),
  attachmentsMax: (size) =>
    mutation('createPost', { text: 'x', attachments: Array(size).fill(image(30)) }),
  altLengthMax: (size) => withAlt('x'.repeat(size)),
  altBytesMax: (size) => withAlt(heavy(size)),
  urlLengthMax: (size) => mutation('createPost', { text: 'x', attachments: [image(size)] }),
  nameLengthMax: (size) => mutation('updateUser', { name: 'x'.repeat(size) }),
  nameBytesMax: (size) => mutation('updateUser', { name: heavy(size) }),
  bioLengthMax: (size) => mutation('updateUser', { bio: 'x'.repeat(size) }),
  bioBytesMax: (size) => mutation('updateUser', { bio: heavy(size) }),
  groupsPerFolloweeMax: (size) => groups(numbered(size)),
  groupNameLengthMax: (size) => groups(['x'.repeat(size)]),
  groupNameBytesMax: (size) => groups([heavy(size)]),
  pageSizeMax: page,
  clientMutationIdLengthMax: (size) =>
    mutation('unlikePost', { postId: postNodeId(post), clientMutationId: 'x'.repeat(size) }),
}

test.each(Object.entries(requests))(
  '%s is the largest size that is accepted',
  async (name, send) => {
    const limit = limits[name] ?? 0
    expect(limit).toBeGreaterThan(0)
    expect(await send(limit)).toBeUndefined()
    expect(await send(limit + 1)).toBe('BAD_USER_INPUT')
  },
)

test('the limits of documents, lists, polls and contents are the constants that their own tests exceed', () => {
  const others = Object.entries(limits).filter(([name]) => !(name in requests))
  expect(Object.fromEntries(others)).toEqual({
    groupsMax: groupsPerUserMax,
    usersMax,
    attachmentPixelsMax: pixelsMax,
    blurhashLengthMax,
    facetsMax,
    pageSizeDefault,
    newsCountMax: newsMax,
    documentDepthMax: constants.depth,
    documentAliasesMax: constants.aliases,
    documentDirectivesMax: constants.directives,
    documentTokensMax: constants.tokens,
    documentNameLengthMax: constants.name,
    documentSelectionsMax: constants.selections,
    operationCostMax: constants.cost,
    bodyBytesMax: constants.bodyBytes,
  })
})
