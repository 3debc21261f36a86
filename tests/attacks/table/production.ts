import { type Attack, documentAttack, httpAttack } from '../attack.ts'

const only = 'production'
const forbidden = { answer: '400 GRAPHQL_VALIDATION_FAILED', only } as const

/** What only development shows. */
export const productionAttacks: readonly Attack[] = [
  ...[
    '{ __schema { types { name } } }',
    '{ __type(name: "User") { name } }',
    '{ ...f } fragment f on Query { __schema { types { name } } }',
    '{ ... on Query { a: __schema { types { name } } } }',
    'query a { viewer { handle } } query b { __schema { types { name } } }',
    '{ viewer { handle } __schema @include(if: false) { types { name } } }',
    'mutation { __schema { types { name } } }',
    '{ __schema { types { fields { type { fields { type { name } } } } } } }',
  ].map((query) => documentAttack(`introspection by ${query}`, query, forbidden)),
  ...['/', '/graphiql', '/playground', '/index.html', '/?x=1'].map(
    (path): Attack => ({
      ...httpAttack(`the page ${path}`, '404 NOT_FOUND', { method: 'GET', path }),
      only,
    }),
  ),
]
