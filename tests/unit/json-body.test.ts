import { expect, test } from 'vitest'
import { withoutEmptyParameters } from '../../src/http/json-body.ts'

test.each([
  ['/graphql?query=x&operationName=', '/graphql?query=x'],
  ['/graphql?operationName=&query=x', '/graphql?query=x'],
  ['/graphql?query=x&variables=null&extensions=', '/graphql?query=x'],
  ['/graphql?query=&query=x', '/graphql?query=x'],
  ['/graphql?query=a?b&variables=', '/graphql?query=a?b'],
  ['/graphql?query=null', '/graphql?query=null'],
  ['/graphql', '/graphql'],
  ['/other?operationName=', '/other?operationName='],
])('%s is read as %s', (given, read) => {
  expect(withoutEmptyParameters(given)).toBe(read)
})
