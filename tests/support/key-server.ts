import {
  constants,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A published key. */
export type Jwk = Readonly<Record<string, unknown>>

/** A server of published keys. */
export interface KeyServer {
  /** Publishes keys at a path, instead of those that are there. @returns the URL. */
  publish(path: string, ...keys: readonly Jwk[]): string
  /** The paths that were asked for, in order. */
  readonly asked: readonly string[]
  close(): void
}

/** Starts a server on the loopback. Each other path has status 404. */
export async function startKeyServer(): Promise<KeyServer> {
  const sets = new Map<string, readonly Jwk[]>()
  const asked: string[] = []
  const server = await new Promise<Server>((resolve) => {
    const starting = createServer(({ url = '' }, response) => {
      asked.push(url)
      const keys = sets.get(url)
      response.writeHead(keys ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ keys }))
    }).listen(0, '127.0.0.1', () => resolve(starting))
  })
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    asked,
    publish: (path, ...keys) => {
      sets.set(path, keys)
      return host + path
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

type Key = { readonly secret: string } | { readonly privateKey: KeyObject; readonly jwk: Jwk }

function createKey(alg: string, kid: string, rsaBits: number): Key {
  if (alg.startsWith('HS')) return { secret: randomBytes(32).toString('hex') }
  const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg]
  const { privateKey, publicKey } =
    alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : curve
        ? generateKeyPairSync('ec', { namedCurve: curve })
        : generateKeyPairSync('rsa', { modulusLength: rsaBits })
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg } }
}

const digestOf = (alg: string) => `sha${alg.slice(2)}`

function signBytes(alg: string, key: KeyObject, bytes: Buffer): Buffer {
  if (alg === 'EdDSA') return sign(null, bytes, key)
  if (alg.startsWith('ES')) return sign(digestOf(alg), bytes, { key, dsaEncoding: 'ieee-p1363' })
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants
  return sign(digestOf(alg), bytes, alg.startsWith('PS') ? { key, padding, saltLength } : key)
}

/** Signs tokens with a key of its own, whatever their headers say. */
export class Signer {
  private readonly key: Key

  constructor(
    readonly alg: string,
    readonly kid: string,
    rsaBits = 2_048,
  ) {
    this.key = createKey(alg, kid, rsaBits)
  }

  /** The published key. */
  get jwk(): Jwk {
    if ('jwk' in this.key) return this.key.jwk
    throw new Error('a secret is not published')
  }

  get secret(): string {
    if ('secret' in this.key) return this.key.secret
    throw new Error('a key pair has no secret')
  }

  /**
   * @param claims an object, or a text in its place.
   * @param by the algorithm that signs, whatever the header says.
   */
  sign(
    claims: unknown,
    header: unknown = { alg: this.alg, typ: 'JWT', kid: this.kid },
    by = this.alg,
  ): string {
    const signed = `${encode(header)}.${encode(claims)}`
    const { key } = this
    const signature =
      'secret' in key
        ? createHmac(digestOf(by), key.secret).update(signed).digest()
        : signBytes(by, key.privateKey, Buffer.from(signed))
    return `${signed}.${signature.toString('base64url')}`
  }
}

/** A token that is signed by HMAC with any secret. */
export function signByHmac(alg: string, secret: string | Buffer, claims: unknown, kid?: string) {
  const signed = `${encode({ alg, typ: 'JWT', kid })}.${encode(claims)}`
  const digest = createHmac(digestOf(alg), secret).update(signed).digest()
  return `${signed}.${digest.toString('base64url')}`
}
