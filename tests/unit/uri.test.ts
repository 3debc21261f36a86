import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uriProblem } from '../../src/db/uri.ts'
import { readConfig } from '../../src/environment.ts'

const configProblemOf = (uri: string): string => {
  try {
    readConfig({ MONGODB_URI: uri })
    return ''
  } catch (error) {
    return String(error)
  }
}

test.each([
  ['mongodb+srv://a.example.com:27017/', 'has a port, which mongodb+srv:// reads from DNS'],
  ['mongodb+srv://u:hidden@a.example.com:1/', 'has a port, which mongodb+srv:// reads from DNS'],
  ['mongodb+srv://a.example.com,b.example.com/', 'has several hosts'],
  ['mongodb+srv://a.example.com/?directConnection=true', 'does not support directConnection'],
  ['mongodb://u:hidden@h/?authMechanism=MONGODB-AWS', 'read by the AWS SDK'],
  [
    'mongodb://u:hidden@h/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:hidden',
    'read by the AWS SDK',
  ],
  ['mongodb://h/?authMechanism=GSSAPI', "Username required for mechanism 'GSSAPI'"],
  ['mongodb://u:hidden@h/?authMechanism=MONGODB-X509', 'Password not allowed'],
  ['mongodb://h/?authMechanism=MONGODB-OIDC', 'must be specified for mechanism'],
  ['mongodb://h/?maxPoolSize=many', 'Expected maxPoolSize to be stringified int value'],
  ['mongodb://h/?readPreference=near', 'Invalid read preference mode "near"'],
  ['mongodb://h/?compressors=zip', 'zip is not a valid compression mechanism'],
  ['mongodb://h/?tls=maybe', 'tls/ssl must be either'],
  ['mongodb://h/?retryWrites=maybe', 'retryWrites must be either "true" or "false"'],
  ['mongodb://u:hid/den@h/', 'is not percent-encoded'],
  ['mongodb://u:hi@hidden/@h/', 'is not percent-encoded'],
  ['mongodb://u:a/hid$den@h/db', 'is not percent-encoded'],
  ['mongodb://u:a@b/hidden#?@h/db', 'is not percent-encoded'],
  ['mongodb://h:99999/', 'a port is no number up to 65535'],
])('%s is refused with what is wrong with it', (uri, reason) => {
  expect(uriProblem(uri)).toContain(reason)
  expect(uriProblem(uri)).toMatch(/^MONGODB_URI: /)
  expect(uriProblem(uri)).not.toMatch(/hidden|hid.den/)
})

test('an option may have an @', () => {
  expect(uriProblem('mongodb://u:p@h/db?appName=a@b&tls=true')).toBeUndefined()
})

test('no sentence about a URI has its password, whatever the password is', () => {
  const special = fc.constantFrom(...'@:/?#[]%&=+, ')
  const password = fc
    .tuple(fc.array(special, { maxLength: 3 }), fc.array(special, { maxLength: 3 }))
    .map(([before, after]) => `sesame${before.join('')}auth:tango${after.join('')}`)
  const tail = fc.constantFrom('h/', 'h:1/', 'h:x/', 'h/?maxPoolSize=x', 'h/?a=b', 'h', ',/')
  const scheme = fc.constantFrom('mongodb://', 'mongodb+srv://')
  fc.assert(
    fc.property(scheme, password, tail, (start, secret, end) => {
      const uri = `${start}user:${secret}@${end}`
      expect(uriProblem(uri) ?? '').not.toMatch(/sesame|tango/)
      expect(configProblemOf(uri)).not.toMatch(/sesame|tango/)
    }),
    { numRuns: 1_000 },
  )
})
