import type { RecordedAnswer } from './release-fixture.ts'

/** A query or mutation of e62058d in the words of this release's schema. */
export function translateOperation(
  query: string,
  variables: RecordedAnswer['variables'],
): { readonly query: string; readonly variables: object } {
  const mutation = /^mutation\(\$input: \w+Input!\) \{ (\w)(\w+)\(/.exec(query)
  if (!mutation) return { query, variables }
  const [, first = '', rest = ''] = mutation
  const { handle, ...input } = (variables as { input: { handle?: string } }).input
  const user = handle === undefined ? {} : { user: { handle } }
  return {
    query: query.replace(/\w+Input!/, `${first.toUpperCase()}${rest}Input!`),
    variables: { input: { ...input, ...user } },
  }
}
