import { createHmac, timingSafeEqual } from 'node:crypto'

/** The secret of all servers in a benchmark with Bearer tokens. */
export const tokenSecret = 'the secret of a benchmark: 32 characters or more'

const lifetimeSeconds = 6 * 3_600

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = encode({ alg: 'HS256', typ: 'JWT' })
const signatureOf = (text: string) => createHmac('sha256', tokenSecret).update(text).digest()

/** The value of the header Authorization for a user: a Bearer token that ends after six hours. */
export function authorizationOf(handle: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const signed = `${header}.${encode({ sub: handle, iat, exp: iat + lifetimeSeconds })}`
  return `Bearer ${signed}.${signatureOf(signed).toString('base64url')}`
}

/**
 * Verifies a header of {@link authorizationOf}, as the rivals do: algorithm, signature and expiry,
 * without WebCrypto.
 * @returns the handle of the user.
 * @throws if the token is not valid.
 */
export function verifyAuthorization(value: string | undefined): string {
  const [algorithm, payload = '', signature = ''] = value?.replace(/^Bearer /, '').split('.') ?? []
  const given = Buffer.from(signature, 'base64url')
  const expected = signatureOf(`${algorithm}.${payload}`)
  if (algorithm !== header || given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Error('the token is not valid')
  const { sub, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (exp < Date.now() / 1000) throw new Error('the token has expired')
  return sub
}
