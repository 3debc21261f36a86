import { isInterfaceType, isObjectType, parse } from 'graphql'
import { expect, test } from 'vitest'
import { costOf, priceOperation } from '../../src/graphql/cost.ts'
import { limits } from '../../src/graphql/limits.ts'
import { pricesOf } from '../../src/graphql/prices.ts'
import { createSchema } from '../../src/graphql/schema.ts'

const schema = createSchema()
const { fieldCommands, fieldPrices, loads, pageCommands } = pricesOf(schema)

function priceOf(query: string, variables = {}) {
  const { definitions } = parse(query)
  const operation = definitions.find((one) => one.kind === 'OperationDefinition')
  if (!operation) throw new Error('no operation')
  const fragments = definitions.filter((one) => one.kind === 'FragmentDefinition')
  return priceOperation({ schema, operation, fragments, variables })
}

const user = (below: string) => `{ user(handle: "ann") { ${below} } }`

test.each([
  ['a field without a load', '{ errorMeaning(code: CONFLICT) }', { values: 1, commands: 0 }],
  [
    'fields of one load',
    user('name bio avatarUrl bannerUrl createdAt'),
    { values: 6, commands: 3 },
  ],
  [
    'the counters of a user',
    user('followerCount followingCount postCount'),
    { values: 4, commands: 3 },
  ],
  ['fields of two loads', user('name postCount'), { values: 3, commands: 5 }],
  ['a page', user('followers(first: 5) { edges { cursor } }'), { values: 12, commands: 6 }],
  ['a page by default', user('followers { edges { cursor } }'), { values: 42, commands: 6 }],
  ['an empty page', user('followers(first: 0) { edges { cursor } }'), { values: 4, commands: 6 }],
  [
    'a page of an invalid size',
    user('posts(first: 1000) { edges { cursor } }'),
    { values: 42, commands: 5 },
  ],
  ['liked posts', user('likedPosts(last: 2) { edges { cursor } }'), { values: 6, commands: 14 }],
  [
    'a list of each item of a page',
    user('followers(first: 5) { edges { node { posts(first: 3) { edges { cursor } } } } }'),
    { values: 47, commands: 10 },
  ],
  [
    'the followees in common with each user of a page',
    user('followers(first: 5) { edges { node { mutuals(first: 3) { totalCount } } } }'),
    { values: 432, commands: 11 },
  ],
  [
    'both probes of a page',
    user('posts(first: 1, after: "x", before: "x") { pageInfo { hasNextPage hasPreviousPage } }'),
    { values: 5, commands: 11 },
  ],
  [
    'a probe that needs no read',
    user('posts(first: 1, after: "x") { pageInfo { hasNextPage } }'),
    { values: 4, commands: 5 },
  ],
  [
    'a field that a directive leaves out',
    user('name @skip(if: true) handle @include(if: false)'),
    { values: 1, commands: 2 },
  ],
  ['a user with the name of its type alone', user('__typename'), { values: 2, commands: 2 }],
  [
    'whether the viewer can follow a user who exists',
    user('viewerCanFollow'),
    { values: 2, commands: 3 },
  ],
  [
    'a fragment',
    `${user('...f')} fragment f on User { name ...g } fragment g on Node { id }`,
    { values: 3, commands: 3 },
  ],
  [
    'the largest of the fragments on other types',
    '{ nodes(ids: ["1", "2"]) { id ... on User { name bio } ... on Post { text } } }',
    { values: 7, commands: 15 },
  ],
  ['introspection', '{ __schema { types { name fields { name } } } }', { values: 1, commands: 0 }],
  [
    'mutations',
    'mutation { a: deleteUser(input: {}) { handle } b: deleteUser(input: {}) { handle } }',
    { values: 4, commands: 28 },
  ],
])('the price of an operation is its values and commands: %s', (_, query, price) => {
  const mutations = query.startsWith('mutation') ? 2 : 0
  expect(priceOf(query)).toEqual({ ...price, mutations, timelines: 0 })
})

test('variables and their defaults set the price', () => {
  const query =
    'query ($n: Int, $all: Boolean!) { user(handle: "ann") { name @include(if: $all) followers(first: $n) { edges { cursor } } } }'
  expect(priceOf(query, { n: 3, all: true })).toMatchObject({ values: 9, commands: 7 })
  expect(priceOf(query, { n: 3, all: false })).toMatchObject({ values: 8, commands: 6 })
  expect(priceOf(query, { all: false })).toMatchObject({ values: 42 })
})

test('timelines that share a read count once, and each cursor, group, direction and probe counts', () => {
  const timelines = (...all: string[]) =>
    priceOf(`{ ${all.map((one, n) => `t${n}: timeline${one}`).join(' ')} }`).timelines
  const cursors = '{ edges { cursor } }'
  expect(timelines(`(first: 1) ${cursors}`, `(first: 9) ${cursors}`, cursors)).toBe(1)
  expect(timelines(`(last: 1) ${cursors}`, cursors)).toBe(2)
  const commands = (query: string) => priceOf(query).commands
  const one = commands(`{ timeline ${cursors} }`)
  expect(one).toBe(pageCommands['Query.timeline'])
  expect(commands(`{ a: timeline ${cursors} timeline(first: 3) ${cursors} }`)).toBe(one)
  expect(commands(`{ a: timeline ${cursors} timeline(group: "a") ${cursors} }`)).toBe(2 * one)
  expect(timelines(`(group: "a") ${cursors}`, `(group: "b") ${cursors}`)).toBe(2)
  expect(timelines('(after: "x") { pageInfo { hasPreviousPage hasNextPage } }')).toBe(2)
})

test('only several timelines cost by the number of followees', () => {
  const price = { values: 10, commands: 2, timelines: 3 }
  expect(costOf(price, 199)).toBe(50)
  expect(costOf(price, 1_000)).toBe(50 + 3 * 5 * 100)
})

test('every field that may send commands has a price, and no other', () => {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__'),
  )
  const fields = types.flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields()).map(({ name, args }) => ({
          name: `${type.name}.${name}`,
          isList: args.some((arg) => arg.name === 'first'),
        }))
      : [],
  )
  const lists = fields.filter(({ isList }) => isList).map(({ name }) => name)
  expect(Object.keys(pageCommands).sort()).toEqual(lists.sort())
  const known = new Set(fields.map(({ name }) => name))
  const priced = [...Object.keys(loads), ...Object.keys(fieldCommands), ...Object.keys(fieldPrices)]
  expect(priced.filter((name) => !known.has(name))).toEqual([])
  const free = ['Query.errorMeaning', 'Query.limits', 'Query.rateLimit', 'Query.viewer']
  const roots = fields.filter(({ name }) => name.startsWith('Query.')).map(({ name }) => name)
  const unpriced = roots.filter((name) => !(name in fieldCommands || name in pageCommands))
  expect(unpriced.sort()).toEqual(free)
  const ofLoads = [
    'User.followers',
    'User.following',
    'User.id',
    'User.isViewer',
    'User.likedPosts',
    'User.mutuals',
    'User.posts',
  ]
  const ofUser = fields.filter(({ name }) => name.startsWith('User.')).map(({ name }) => name)
  expect(ofUser.filter((name) => !(name in loads)).sort()).toEqual(ofLoads)
})

test('a page of 100 posts with all fields of PostCard costs less than a request may', () => {
  const name = '__typename'
  const price = priceOf(`{ timeline(last: 100) { edges { cursor ${name} node {
    id text facets { start end kind handle tag url ${name} } createdAt
    attachments { url kind alt width height blurhash ${name} }
    author { id handle name avatarUrl viewerFollows ${name} }
    likeCount commentCount shareCount viewerHasLiked viewerHasShared viewerCanDelete ${name}
  } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage ${name} } pollCursor ${name} } }`)
  const followees = 1_000
  expect(costOf(price, followees)).toBeLessThan(limits.cost)
})
