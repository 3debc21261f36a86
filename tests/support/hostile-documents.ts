const times = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')

/** A document that costs more than it looks, and what becomes of it. */
export interface HostileDocument {
  readonly name: string
  readonly text: string
  /** OK, or the exceeded limit, or the code of the error. */
  readonly outcome: string
}

const [ok, parse, invalid] = ['OK', 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'] as const
const user = (selection: string) => `{ user(handle: "ann") { ${selection} } }`
const page = (selection: string) => user(`followers(first: 1) { edges { node { ${selection} } } }`)

/**
 * The shapes that make parsers, validators and executors work most, as large as the limits allow,
 * and larger.
 */
export const hostileDocuments: readonly HostileDocument[] = [
  ['450 duplicates of a field', `{ ${times(450, () => 'viewer { handle }')} }`, ok],
  ['1,900 duplicates of a leaf', `{ viewer { ${'handle '.repeat(1_900)} } }`, ok],
  ['duplicates with arguments', `{ ${times(150, () => 'user(handle: "ann") { id name }')} }`, ok],
  ['duplicates in conflict', `{ ${times(200, (n) => `user(handle: "a${n}") { id }`)} }`, invalid],
  ['nested duplicates', page(times(190, () => 'followers { edges { node { id } } }')), ok],
  [
    'duplicates of duplicates',
    `{ ${times(20, () => `viewer { ${times(20, () => 'user { id }')} }`)} }`,
    ok,
  ],
  [
    '30 aliases',
    `{ ${times(30, (n) => `a${n}: user(handle: "a${n}") { id name bio createdAt }`)} }`,
    ok,
  ],
  ['31 aliases', `{ ${times(31, (n) => `a${n}: viewer { handle }`)} }`, 'aliases'],
  [
    '100 fragments on one selection',
    `${user(times(100, (n) => `...f${n}`))} ${times(100, (n) => `fragment f${n} on User { id name bio }`)}`,
    ok,
  ],
  [
    '100 fragments with pages',
    `${user(times(100, (n) => `...f${n}`))} ${times(100, (n) => `fragment f${n} on User { posts { edges { node { id } } } }`)}`,
    ok,
  ],
  ['a fragment 600 times', `${user('...f '.repeat(600))} fragment f on User { id }`, ok],
  ['inline fragments', user('... on User { id } '.repeat(330)), ok],
  [
    'inline fragments in each other',
    user(`${'... on User { '.repeat(390)}id${' }'.repeat(390)}`),
    ok,
  ],
  [
    'a chain of fragments',
    `${user('...f0')} ${times(200, (n) => `fragment f${n} on User { ...f${n + 1} }`)} fragment f200 on User { id }`,
    ok,
  ],
  [
    'a circle of fragments',
    `${user('...f0')} ${times(200, (n) => `fragment f${n} on User { ...f${(n + 1) % 200} }`)}`,
    invalid,
  ],
  [
    'fragments that all spread all',
    `${user('...f0')} ${times(25, (n) => `fragment f${n} on User { ${times(25, (m) => `...f${m}`)} }`)}`,
    'selections',
  ],
  [
    'fragments in fragments',
    `${user('...f0')} ${times(7, (n) => `fragment f${n} on User { ${times(4, () => `id ...f${n + 1}`)} }`)} fragment f7 on User { id }`,
    'selections',
  ],
  ['directives', `{ viewer { ${'handle @include(if: true) '.repeat(31)} } }`, 'directives'],
  [
    'one directive many times',
    `{ viewer { handle ${'@skip(if: true) '.repeat(280)} } }`,
    'directives',
  ],
  ['unknown directives', `{ viewer { handle ${times(600, (n) => `@x${n}`)} } }`, 'directives'],
  ['unknown fields', `{ ${times(1_900, (n) => `viewr${n}`)} }`, invalid],
  ['unknown arguments', `{ viewer(${times(480, (n) => `handl${n}: 1`)}) { handle } }`, invalid],
  ['unknown types', `query (${times(490, (n) => `$a${n}: Usr`)}) { viewer { handle } }`, invalid],
  [
    'unknown values of an enum',
    `{ ${times(180, (n) => `timeline(strategy: INBX${n}) { pending }`)} }`,
    invalid,
  ],
  ['unknown fragments', `{ viewer { ${times(900, (n) => `...f${n}`)} } }`, invalid],
  [
    'unused variables',
    `query (${times(490, (n) => `$a${n}: Int`)}) { viewer { handle } }`,
    invalid,
  ],
  [
    'undefined variables',
    `{ ${times(180, (n) => `timeline(first: $a${n}) { pending }`)} }`,
    invalid,
  ],
  ['operations', times(240, (n) => `query a${n} { viewer { handle } }`), ok],
  [
    'operations with fragments',
    `${times(120, (n) => `query a${n} { ...f0 }`)} ${times(110, (n) => `fragment f${n} on Query { ...f${n + 1} }`)} fragment f110 on Query { viewer { handle } }`,
    'selections',
  ],
  [
    'operations over a large fragment',
    `${times(270, (n) => `query q${n} { ...f }`)} fragment f on Query { user(handle: "a") { ${times(60, (n) => ['id', 'name', 'bio'][n % 3] as string)} } }`,
    'selections',
  ],
  [
    'operations with variables',
    `${times(60, (n) => `query a${n}($v: Int) { ...f0 }`)} ${times(60, (n) => `fragment f${n} on Query { ...f${n + 1} timeline(first: $v) { pending } }`)} fragment f60 on Query { viewer { handle } }`,
    'selections',
  ],
  ['a list of literals', `{ nodes(ids: [${'"x" '.repeat(1_980)}]) { id } }`, ok],
  ['lists in lists', `{ nodes(ids: ${'['.repeat(980)}${']'.repeat(980)}) { id } }`, invalid],
  [
    'objects in objects',
    `mutation { createPost(input: ${'{text: '.repeat(480)}1${'}'.repeat(480)}) { post { id } } }`,
    invalid,
  ],
  [
    'an object with many fields',
    `mutation { createPost(input: {${times(600, (n) => `t${n}: 1`)}}) { post { id } } }`,
    invalid,
  ],
  ['a long string', user(`posts(after: "${'x'.repeat(90_000)}") { edges { cursor } }`), ok],
  [
    'a string of escapes',
    user(`posts(after: "${'\\u0041'.repeat(12_000)}") { edges { cursor } }`),
    ok,
  ],
  [
    'a block string of lines',
    user(`posts(after: """${'\n  x'.repeat(15_000)}""") { edges { cursor } }`),
    ok,
  ],
  ['a long number', `{ timeline(first: ${'9'.repeat(90_000)}) { pending } }`, invalid],
  ['a long fraction', `{ timeline(first: 1.${'9'.repeat(90_000)}e9) { pending } }`, invalid],
  ['comments', `${'#x\n'.repeat(20_000)}{ viewer { handle } }`, ok],
  ['commas', `{ viewer { handle } }${','.repeat(90_000)}`, ok],
  ['a long name', `{ ${'a'.repeat(90_000)} }`, 'name'],
  ['tokens', `{ ${'a '.repeat(45_000)}}`, 'tokens'],
  ['brackets', `{ nodes(ids: ${'['.repeat(90_000)}`, 'tokens'],
  ['braces', '{a'.repeat(45_000), 'tokens'],
  ['braces without an end', '{a'.repeat(990), parse],
  [
    'depth',
    `{ user(handle: "ann") { ${'followers { edges { node { '.repeat(5)}id${' } } }'.repeat(5)} } }`,
    'depth',
  ],
  [
    'introspection',
    `{ __schema { ${'types { fields { type { name } } } '.repeat(100)} } }`,
    invalid,
  ],
  ['type names', `{ ${'__typename '.repeat(1_990)} }`, ok],
  ['subscriptions', `subscription { ${times(600, (n) => `x${n}`)} }`, invalid],
].map(([name = '', text = '', outcome = '']) => ({ name, text, outcome }))

/** A request of an anonymous client. */
export interface HostileRequest {
  readonly name: string
  readonly query: string
  readonly variables: object
}

const listOf = (count: number, value: unknown) => Array.from({ length: count }, () => value)
const nodes = 'query ($v: [ID!]!) { nodes(ids: $v) { id } }'
const post = 'mutation ($v: CreatePostInput!) { createPost(input: $v) { clientMutationId } }'

/** Values of variables that cost more than they look. */
const hostileValues: readonly (readonly [name: string, query: string, value: unknown])[] = [
  ['a list of 20,000 ids', nodes, listOf(20_000, 'x')],
  ['a list of 20,000 nulls', nodes, listOf(20_000, null)],
  ['a list of 5,000 objects', nodes, listOf(5_000, { id: 'x' })],
  [
    'an input with 6,000 unknown fields',
    post,
    Object.fromEntries(listOf(6_000, 1).map((one, n) => [`tex${n}`, one])),
  ],
  [
    'a list of 6,000 wrong attachments',
    post,
    { text: 'x', attachments: listOf(6_000, { kynd: 1 }) },
  ],
  [
    'a list of 2,000 attachments',
    post,
    { text: 'x', attachments: listOf(2_000, { url: 'https://a.example/', kind: 'IMAGE' }) },
  ],
  ['a text of 90,000 characters', post, { text: 'x'.repeat(90_000) }],
  ['a text of 3,000 emoji', post, { text: '👩‍👩‍👧‍👦'.repeat(3_000) }],
  ['a deep value', nodes, JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)],
]

/** All hostile documents, and documents with hostile values of their variables. */
export const hostileRequests: readonly HostileRequest[] = [
  ...hostileDocuments.map(({ name, text }) => ({ name, query: text, variables: {} })),
  ...hostileValues.map(([name, query, v]) => ({ name, query, variables: { v } })),
]
