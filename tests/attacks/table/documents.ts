import { limits } from '../../../src/graphql/limits.ts'
import { type Attack, documentAttack, existingPost, times } from '../attack.ts'

const limit = { answer: '400 LIMIT_EXCEEDED' }
const syntax = { answer: '400 GRAPHQL_PARSE_FAILED' }
const invalid = {}

const deep = (levels: number, field: string) =>
  `{ user(handle: "ben") { ${`${field} { edges { node { `.repeat(levels)} handle ${'} } }'.repeat(levels)} } }`
const chain = (length: number, last: string) =>
  `{ user(handle: "ben") { ...f0 } } ${times(length, (n) => `fragment f${n} on User { ...f${n + 1} }`)} fragment f${length} on User { ${last} }`
const bomb = (width: number, height: number) =>
  `{ user(handle: "ben") { ...f0 } } ${times(height, (n) => `fragment f${n} on User { ${times(width, (m) => `a${n}x${m}: id ...f${n + 1}`)} }`)} fragment f${height} on User { id }`
const mesh = (width: number) =>
  `{ viewer { ...f0 } } ${times(width, (n) => `fragment f${n} on Viewer { ${times(width, (m) => `...f${m}`)} }`)}`
const long = (length: number) => 'a'.repeat(length)

/** The documents that exceed a limit. */
const beyondLimits: readonly Attack[] = [
  ...[5, 20, 60, 150].map((n) =>
    documentAttack(`depth of ${n} lists`, deep(n, 'followers'), limit),
  ),
  documentAttack(
    'depth beside introspection',
    `{ __typename ${deep(20, 'following').slice(1)}`,
    limit,
  ),
  documentAttack(
    'depth in a chain of fragments',
    chain(3, `${'followers { edges { node { '.repeat(5)}handle${' } } }'.repeat(5)}`),
    limit,
  ),
  ...[31, 100, 400].map((n) =>
    documentAttack(`${n} aliases`, `{ ${times(n, (m) => `a${m}: viewer { handle }`)} }`, limit),
  ),
  documentAttack(
    '31 aliases in a mutation',
    `mutation { ${times(31, (m) => `a${m}: deleteUser(input: {}) { changed }`)} }`,
    limit,
  ),
  documentAttack(
    'aliases in fragments',
    `{ ...f } fragment f on Query { ${times(40, (m) => `a${m}: viewer { handle }`)} }`,
    limit,
  ),
  ...[31, 200].map((n) =>
    documentAttack(
      `${n} directives`,
      `{ viewer { ${times(n, () => 'handle @include(if: true)')} } }`,
      limit,
    ),
  ),
  documentAttack(
    'directives on one field',
    `{ viewer { handle ${times(60, () => '@skip(if: false)')} } }`,
    limit,
  ),
  documentAttack(
    'unknown directives',
    `{ viewer { handle ${times(60, (n) => `@x${n}`)} } }`,
    limit,
  ),
  ...[limits.tokens + 1, 20_000].map((n) =>
    documentAttack(`${n} tokens`, `{ ${'a '.repeat(n - 2)} }`, limit),
  ),
  documentAttack('brackets', `{ nodes(ids: ${'['.repeat(10_000)}`, limit),
  documentAttack('braces', '{a'.repeat(10_000), limit),
  documentAttack('braces of values', `{ nodes(ids: ${'{a:'.repeat(10_000)}`, limit),
  ...[
    [2, 12],
    [4, 7],
    [10, 4],
  ].map(([width = 0, height = 0]) =>
    documentAttack(
      `fragments in fragments, ${width} wide and ${height} high`,
      bomb(width, height),
      limit,
    ),
  ),
  documentAttack('fragments that all spread all', mesh(20), limit),
  documentAttack(
    'cost of nested pages',
    '{ user(handle: "ben") { followers(first: 100) { edges { node { followers(first: 100) { edges { node { handle } } } } } } } }',
    limit,
  ),
  documentAttack(
    'cost of pages of the default size',
    '{ user(handle: "ben") { followers { edges { node { followers { edges { node { followers { edges { node { handle } } } } } } } } } } }',
    limit,
  ),
  documentAttack(
    'cost of nodes',
    'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Post { likes(first: 100) { edges { cursor } } } } }',
    limit,
    { ids: Array(100).fill(existingPost) },
  ),
  documentAttack(
    'cost by an alias each',
    `{ ${times(60, (n) => `a${n}: user(handle: "ben") { followers(first: 100) { edges { node { name bio } } } }`)} }`,
    limit,
  ),
  documentAttack('a long alias', `{ ${long(90_000)}: viewer { handle } }`, limit),
  documentAttack(
    'a long alias of an item',
    `{ user(handle: "ben") { followers(first: 100) { edges { node { ${long(80_000)}: handle } } } } }`,
    limit,
  ),
  documentAttack(
    'a long name of an operation',
    `query ${long(90_000)} { viewer { handle } }`,
    limit,
  ),
  documentAttack(
    'a long name of a fragment',
    `{ viewer { ...${long(40_000)} } } fragment ${long(40_000)} on Viewer { handle }`,
    limit,
  ),
  documentAttack(
    'a long name of a variable',
    `query ($${long(40_000)}: String!) { user(handle: $${long(40_000)}) { id } }`,
    limit,
  ),
]

/** Documents that are no GraphQL. */
const malformed: readonly Attack[] = [
  ['an open brace', '{'],
  ['only a comment', '# nothing'],
  ['only commas', ',,,,,'],
  ['an empty selection', '{ viewer { } }'],
  ['an empty operation', '{}'],
  ['an anonymous fragment', 'fragment on User { id }'],
  ['a null character', '{ viewer\u0000 { handle } }'],
  ['a unicode name', '{ viewér { handle } }'],
  ['an emoji', '{ 😀 }'],
  ['an unpaired surrogate', '{ user(handle: "\ud800") { id } }'],
  ['an open string', '{ user(handle: "x) { id } }'],
  ['an open block string', '{ user(handle: """x) { id } }'],
  ['a wrong escape', '{ user(handle: "\\x41") { id } }'],
  ['an escape beyond unicode', '{ user(handle: "\\u{110000}") { id } }'],
  ['an escape without digits', '{ user(handle: "\\u{}") { id } }'],
  ['an escaped surrogate', '{ user(handle: "\\uD800") { id } }'],
  ['a number with leading zeros', '{ timeline(first: 007) { pending } }'],
  ['a hexadecimal number', '{ timeline(first: 0x10) { pending } }'],
  ['a number with a bare point', '{ timeline(first: 1.) { pending } }'],
  ['a number with a bare exponent', '{ timeline(first: 1e) { pending } }'],
  ['a sign without a number', '{ timeline(first: -) { pending } }'],
  ['SQL', 'SELECT * FROM users WHERE 1=1; --'],
  ['JavaScript', 'function () { return true }'],
  ['XML', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
  ['a template', '{{constructor.constructor("return process")()}}'],
  ['a directive in a variable', 'query ($a: Int = $b) { viewer { handle } }'],
  ['the enum value null', '{ timeline(strategy: ) { pending } }'],
].map(([name = '', query = '']) => documentAttack(name, query, syntax))

/** Documents that do not fit the schema. */
const unfitting: readonly Attack[] = [
  ['an unknown field', '{ users { id } }'],
  ['a misspelt field', '{ viewr { handle } }'],
  ['a field of a prototype', '{ __proto__ { id } }'],
  ['a constructor', '{ constructor }'],
  ['a method of objects', '{ viewer { toString } }'],
  ['a leaf with a selection', '{ viewer { handle { length } } }'],
  ['an object without a selection', '{ viewer }'],
  ['an unknown argument', '{ viewer(secret: true) { handle } }'],
  ['a misspelt argument', '{ user(hanlde: "ben") { id } }'],
  ['a missing argument', '{ user { id } }'],
  ['an argument twice', '{ user(handle: "ann", handle: "ben") { id } }'],
  ['an unknown type', 'query ($a: Usr) { viewer { handle } }'],
  ['a prototype as a type', 'query ($a: __proto__) { viewer { handle } }'],
  ['an output type of a variable', 'query ($a: User) { viewer { handle } }'],
  ['a variable twice', 'query ($a: Int, $a: Int) { timeline(first: $a) { pending } }'],
  ['an unknown variable', '{ timeline(first: $a) { pending } }'],
  ['an unused variable', 'query ($a: Int) { viewer { handle } }'],
  ['a variable of another type', 'query ($a: String) { timeline(first: $a) { pending } }'],
  ['a nullable variable', 'query ($a: String) { user(handle: $a) { id } }'],
  ['a wrong default', 'query ($a: Int = "5") { timeline(first: $a) { pending } }'],
  ['an unknown fragment', '{ viewer { ...nothing } }'],
  ['a misspelt fragment', '{ viewer { ...vieww } } fragment view on Viewer { handle }'],
  ['an unused fragment', '{ viewer { handle } } fragment f on User { id }'],
  [
    'a fragment twice',
    '{ viewer { ...f } } fragment f on Viewer { handle } fragment f on Viewer { handle }',
  ],
  ['a fragment of a scalar', '{ viewer { ... on String { length } } }'],
  ['a fragment of another type', '{ viewer { ... on Post { text } } }'],
  ['a fragment of itself', '{ viewer { ...f } } fragment f on Viewer { ...f }'],
  [
    'a fragment of itself by another',
    '{ viewer { ...f } } fragment f on Viewer { ...g } fragment g on Viewer { ...f }',
  ],
  [
    'a fragment of itself in a field',
    '{ user(handle: "ben") { ...f } } fragment f on User { followers { edges { node { ...f } } } }',
  ],
  [
    'a circle of a hundred fragments',
    `{ viewer { ...f0 } } ${times(100, (n) => `fragment f${n} on Viewer { ...f${(n + 1) % 100} }`)}`,
  ],
  ['a few fragments that all spread all', mesh(5)],
  ['two fields of one name', '{ a: user(handle: "ann") { id } a: user(handle: "ben") { id } }'],
  [
    'two fields of one name in fragments',
    '{ viewer { ...f ...g } } fragment f on Viewer { a: handle } fragment g on Viewer { a: user { id } }',
  ],
  [
    'names that differ 600 times',
    `{ ${times(100, (n) => `viewer { user { followers(first: ${n}) { edges { cursor } } } }`)} }`,
  ],
  ['an unknown directive', '{ viewer @admin { handle } }'],
  ['a directive without its argument', '{ viewer @include { handle } }'],
  ['a directive twice', '{ viewer @skip(if: false) @skip(if: false) { handle } }'],
  ['a directive of the schema', '{ viewer @deprecated(reason: "x") { handle } }'],
  ['defer', '{ viewer { ... @defer { handle } } }'],
  ['stream', '{ user(handle: "ben") { followers { edges @stream { cursor } } } }'],
  ['an operation twice', 'query a { viewer { handle } } query a { viewer { handle } }'],
  ['an anonymous operation beside another', '{ viewer { handle } } query a { viewer { handle } }'],
  ['a definition of the schema', 'type Query { x: Int } { viewer { handle } }'],
  ['an extension of the schema', 'extend type Query { x: Int }'],
  ['a subscription', 'subscription { x }'],
  ['a subscription of the type name', 'subscription { __typename }'],
  ['a mutation in a query', '{ deleteUser(input: {}) { changed } }'],
  ['a query in a mutation', 'mutation { viewer { handle } }'],
  ['an unknown mutation', 'mutation { createUsr(input: {name: "x"}) { user { id } } }'],
  [
    'an unknown field of an input',
    'mutation { createUser(input: {name: "x", admin: true}) { user { id } } }',
  ],
  [
    'a prototype in an input',
    'mutation { createUser(input: {name: "x", __proto__: {a: 1}}) { user { id } } }',
  ],
  [
    'an operator in an input',
    'mutation { followUser(input: {user: {handle: {ne: 1}}}) { changed } }',
  ],
  [
    'a field of an input twice',
    'mutation { followUser(input: {user: {handle: "ben", handle: "ann"}}) { changed } }',
  ],
  [
    'two fields of an input that takes one',
    'mutation { followUser(input: {user: {handle: "ben", id: "x"}}) { changed } }',
  ],
  ['no field of an input that takes one', 'mutation { followUser(input: {user: {}}) { changed } }'],
  [
    'null in an input that takes one field',
    'mutation { followUser(input: {user: {handle: null}}) { changed } }',
  ],
  ['an unknown value of an enum', '{ timeline(strategy: INBX) { pending } }'],
  ['a string as an enum', '{ timeline(strategy: "INBOX") { pending } }'],
  ['a number above 32 bits', '{ timeline(first: 2147483648) { pending } }'],
  ['a fraction', '{ timeline(first: 1.5) { pending } }'],
  ['a number as a string', '{ timeline(first: "5") { pending } }'],
  ['a list as a number', '{ timeline(first: [5]) { pending } }'],
  ['an object as an id', '{ node(id: {ne: 1}) { id } }'],
  ['null for a required argument', '{ user(handle: null) { id } }'],
  ['null in a list', '{ nodes(ids: [null]) { id } }'],
  ['lists in lists', `{ nodes(ids: ${'['.repeat(980)}${']'.repeat(980)}) { id } }`],
  [
    'objects in objects',
    `mutation { createPost(input: ${'{text: '.repeat(480)}1${'}'.repeat(480)}) { post { id } } }`,
  ],
  ['five hundred unknown fields', `{ ${times(500, (n) => `x${n}`)} }`],
].map(([name = '', query = '']) => documentAttack(name, query, invalid))

/** Errors that repeat a part of the document. */
const repeated: readonly Attack[] = [
  documentAttack(
    'errors that name a long operation',
    `query ${long(limits.name)} { ${times(120, (n) => `nodes(ids: $v${n}) { id }`)} }`,
    invalid,
  ),
  documentAttack(
    'errors that name a long string',
    `{ ${times(20, () => `timeline(first: "${long(4_000)}") { pending }`)} }`,
    invalid,
  ),
]

export const documents: readonly Attack[] = [
  ...beyondLimits,
  ...malformed,
  ...unfitting,
  ...repeated,
]
