import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { base64url, errors } from 'jose'

/** The hash of each algorithm of a secret. */
const hashes: Readonly<Record<string, string>> = {
  HS256: 'sha256',
  HS384: 'sha384',
  HS512: 'sha512',
}

/** Verifies the signature of a token of three parts, by the algorithm of its header. */
export type VerifyHmac = (token: string, alg: string) => void

/**
 * Verifies signatures by a secret at once: jose needs 20 times as long, by WebCrypto. Reads the
 * text of a signature as jose does, and nothing else of the token.
 * @returns a function that throws {JWSInvalid} for a signature that is no base64url, and
 * {JWSSignatureVerificationFailed} for a wrong one.
 */
export function createVerifyHmac(secret: string): VerifyHmac {
  const key = createSecretKey(secret, 'utf8')
  return (token, alg) => {
    const end = token.lastIndexOf('.')
    const signature = readSignature(token.slice(end + 1))
    const expected = createHmac(hashes[alg] ?? '', key)
      .update(token.slice(0, end), 'latin1')
      .digest()
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
      throw new errors.JWSSignatureVerificationFailed()
  }
}

function readSignature(text: string): Uint8Array {
  try {
    return base64url.decode(text)
  } catch (cause) {
    throw new errors.JWSInvalid('the signature is no base64url', { cause })
  }
}
