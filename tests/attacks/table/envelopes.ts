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

const hash = '0'.repeat(64)

/** Names of documents, of which the server has none. */
const names: readonly Attack[] = [
  ...[hash, '__proto__', '', 'a'.repeat(80_000)].flatMap((sha256Hash) => {
    const name = `the hash ${sha256Hash.slice(0, 20)} of ${sha256Hash.length}`
    const extensions = { persistedQuery: { version: 1, sha256Hash } }
    const found = { answer: '200 PERSISTED_QUERY_NOT_FOUND' }
    const wrong = { answer: '400 PERSISTED_QUERY_HASH_MISMATCH' }
    return [
      jsonAttack(name, JSON.stringify({ extensions }), found),
      jsonAttack(`${name} beside a document`, JSON.stringify({ query, extensions }), wrong),
    ]
  }),
  ...[
    { version: 2, sha256Hash: hash },
    { version: '1', sha256Hash: hash },
    { version: 1 },
    { version: 1, sha256Hash: { $ne: 1 } },
    { version: 1, sha256Hash: { toString: 1 } },
    { version: 1, sha256Hash: [hash] },
    { version: 1, sha256Hash: 0 },
    ...[true, 'x', [], 1],
  ].flatMap((persistedQuery) =>
    [{}, { query }].map((more) =>
      jsonAttack(
        `a hash ${JSON.stringify(persistedQuery)} with ${JSON.stringify(more)}`,
        JSON.stringify({ ...more, extensions: { persistedQuery } }),
        { answer: '400 BAD_REQUEST' },
      ),
    ),
  ),
  ...['documentId', 'doc_id', 'id'].flatMap((field) =>
    ['x', '__proto__', '', 'sha256:', 1, true, [], {}, 'a'.repeat(80_000)].map((id) =>
      jsonAttack(
        `the ${field} ${JSON.stringify(id).slice(0, 20)}`,
        JSON.stringify({ [field]: id, variables: {} }),
        { answer: '400 PERSISTED_QUERY_NOT_IN_LIST' },
      ),
    ),
  ),
  jsonAttack('two names', '{"id":"x","documentId":"x"}', { answer: '400 BAD_REQUEST' }),
  // Some clients send members of their own.
  jsonAttack('an id beside a document', JSON.stringify({ query, id: 'x', doc_id: 1 }), {
    answer: '200 OK',
    commandsMax: 4,
  }),
]

export const envelopes: readonly Attack[] = [...bodies, ...deep, ...operations, ...names]
