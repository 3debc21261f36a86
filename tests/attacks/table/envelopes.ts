import { type Attack, documentAttack, jsonAttack } from '../attack.ts'

const notRequest = { answer: '400 BAD_REQUEST' }
const query = '{ viewer { handle } }'
const nest = (open: string, close: string, count: number) =>
  open.repeat(count) + close.repeat(count)
const variables = (value: string) =>
  `{"query":"query ($v: String) { user(handle: \\"ben\\") { following(group: $v) { __typename } } }","variables":{"v":${value}}}`

/** Bodies that are no GraphQL request. */
const bodies: readonly Attack[] = [
  ['an empty body', ''],
  ['spaces', '   '],
  ['an open object', '{"query":'],
  ['a number', '5'],
  ['a string', `"${query}"`],
  ['null', 'null'],
  ['true', 'true'],
  ['an empty object', '{}'],
  ['an empty batch', '[]'],
  ['a batch', JSON.stringify([{ query }])],
  ['a batch of a thousand', JSON.stringify(Array(1_000).fill({ query }))],
  ['a batch in a batch', JSON.stringify([[{ query }]])],
  ['a comment in JSON', `{/* */"query":"${query}"}`],
  ['a comma at the end', `{"query":"${query}",}`],
  ['single quotes', `{'query':'${query}'}`],
  ['NaN', variables('NaN')],
  ['Infinity', variables('-Infinity')],
  ['undefined', variables('undefined')],
  ['a wrong escape', '{"query":"\\x"}'],
  ['a raw line break', '{"query":"\n"}'],
  ['two values', `{"query":"${query}"}{}`],
  ['a prototype', `{"query":"${query}","__proto__":{"isAdmin":true}}`],
  [
    'a constructor with a prototype',
    `{"query":"${query}","constructor":{"prototype":{"isAdmin":true}}}`,
  ],
  [
    'an escaped prototype',
    `{"query":"${query}","\\u005f\\u005fproto\\u005f\\u005f":{"isAdmin":true}}`,
  ],
  ['a prototype in variables', variables('{"__proto__":{"x":1}}')],
  ['a deep prototype', variables(`${'{"a":'.repeat(1_000)}{"__proto__":1}${'}'.repeat(1_000)}`)],
  ['no query', '{"variables":{}}'],
  ['an empty query', '{"query":""}'],
  ...[null, 5, true, [query], { $ne: null }].map((one) => [
    `the query ${JSON.stringify(one)}`,
    JSON.stringify({ query: one }),
  ]),
  ...['x', 5, true, [1], [[]]].map((one) => [
    `the variables ${JSON.stringify(one)}`,
    JSON.stringify({ query, variables: one }),
  ]),
  ...[5, true, [1], 'x'].map((one) => [
    `the extensions ${JSON.stringify(one)}`,
    JSON.stringify({ query, extensions: one }),
  ]),
  ...[5, true, ['a'], { $ne: 1 }].map((one) => [
    `the operation name ${JSON.stringify(one)}`,
    JSON.stringify({ query, operationName: one }),
  ]),
].map(([name = '', body = '']) => jsonAttack(`a body: ${name}`, body, notRequest))

/** JSON that is correct, and more than a variable takes. */
const deep: readonly Attack[] = [
  ['lists in lists', variables(nest('[', ']', 40_000))],
  ['objects in objects', variables(nest('{"a":', '}', 15_000).replace(/:}/, ':1}'))],
  ['a long list', variables(JSON.stringify(Array(40_000).fill(1)))],
  [
    'many keys',
    variables(
      JSON.stringify(Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`k${n}`, n]))),
    ),
  ],
  ['a huge number', variables('1e400')],
  ['a long number', variables('9'.repeat(50_000))],
].map(([name = '', body = '']) =>
  jsonAttack(`a variable: ${name}`, body, { answer: '400 BAD_USER_INPUT' }),
)

const operation = { answer: '400 OPERATION_RESOLUTION_FAILURE' }
const named = (operationName: string, document = `query a ${query}`) =>
  jsonAttack(
    `the operation ${operationName.slice(0, 20)}`,
    JSON.stringify({ query: document, operationName }),
    operation,
  )

/** Operations that the document does not have. */
const operations: readonly Attack[] = [
  named('b'),
  named('__proto__'),
  named('constructor'),
  named('a'.repeat(80_000)),
  documentAttack('two operations and no name', `query a ${query} query b ${query}`, operation),
  documentAttack('only a fragment', 'fragment f on User { id }', {}),
]

const persisted = { answer: '200 PERSISTED_QUERY_NOT_SUPPORTED' }
const hash = '0'.repeat(64)

/** Documents by their hashes, which the server does not store. */
const hashes: readonly Attack[] = [
  { version: 1, sha256Hash: hash },
  { version: 2, sha256Hash: hash },
  { version: 1 },
  { version: 1, sha256Hash: { $ne: 1 } },
  { version: 1, sha256Hash: '__proto__' },
  { version: 1, sha256Hash: 'a'.repeat(80_000) },
  true,
  'x',
  [],
].flatMap((persistedQuery) =>
  [{}, { query }].map((more) =>
    jsonAttack(
      `a hash ${JSON.stringify(persistedQuery).slice(0, 60)} with ${JSON.stringify(more)}`,
      JSON.stringify({ ...more, extensions: { persistedQuery } }),
      persisted,
    ),
  ),
)

export const envelopes: readonly Attack[] = [...bodies, ...deep, ...operations, ...hashes]
