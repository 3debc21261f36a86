import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultyKeyServer, keyFaults, startFaultyKeyServer } from '../../support/faulty-keys.ts'
import { Signer } from '../../support/key-server.ts'
import { now } from '../../support/sign-in.ts'

/** Sends a request with a token, or without one. */
type Send = (token: string | undefined) => Promise<{ readonly status: number }>

interface Endpoint {
  readonly path: string
  /** Undefined: the tokens of all issuers that are not listed. */
  readonly issuer: string | undefined
  readonly signer: Signer
  /** What goes wrong with it. Undefined: nothing. */
  readonly fault: string | undefined
  /** Whether it has never answered with keys, so that its tokens cannot be verified. */
  readonly isUnknown: boolean
}

const faults = Object.keys(keyFaults)
const [hanging = ''] = faults

/**
 * A server's key endpoints: the main one, one that stays right, one that was never right, and one for each fault, all of
 * which go wrong once the server has their keys.
 */
export class SignInScene {
  private readonly stranger = new Signer('ES256', 'key')
  private readonly endpoints: readonly Endpoint[] = [
    { path: '/main', issuer: undefined, fault: hanging, isUnknown: false },
    { path: '/right', issuer: 'https://right.example', fault: undefined, isUnknown: false },
    { path: '/never', issuer: 'https://never.example', fault: hanging, isUnknown: true },
    ...faults.map((fault, at) => {
      const issuer = `https://${at}.example`
      return { path: `/${at}`, issuer, fault, isUnknown: false }
    }),
  ].map((endpoint) => ({ ...endpoint, signer: new Signer('ES256', 'key') }))
  private tokens = 0

  private constructor(readonly keys: FaultyKeyServer) {
    for (const { path, signer } of this.endpoints) keys.publish(path, signer.jwk)
    this.spoil(({ isUnknown }) => isUnknown)
  }

  static readonly start = async () => new SignInScene(await startFaultyKeyServer())

  /** The variables of a server that has these endpoints. */
  get environment(): Readonly<Record<string, string>> {
    const { keys } = this
    const host = keys.publish('').replace(/\/$/, '')
    const listed = this.endpoints.filter(({ issuer }) => issuer !== undefined)
    return {
      AUTH_JWKS_URL: `${host}/main`,
      AUTH_ISSUERS: JSON.stringify(
        listed.map(({ issuer, path }) => ({ issuer, jwksUrl: host + path, algorithms: ['ES256'] })),
      ),
    }
  }

  /** Makes endpoints go wrong. */
  spoil(which: (endpoint: Endpoint) => boolean = () => true): void {
    for (const endpoint of this.endpoints.filter(which))
      if (endpoint.fault !== undefined) this.keys.spoil(endpoint.path, endpoint.fault)
  }

  private claimsOf({ issuer }: Pick<Endpoint, 'issuer'>) {
    return { iss: issuer, sub: 'ann', exp: now() + 600, jti: `${this.tokens++}` }
  }

  /** A new token of each issuer whose keys the server has, and no token. */
  honestTokens(): readonly (string | undefined)[] {
    const known = this.endpoints.filter(({ isUnknown }) => !isUnknown)
    return [
      undefined,
      ...known.map((endpoint) => endpoint.signer.sign(this.claimsOf(endpoint))),
      this.endpoints[0]?.signer.sign(this.claimsOf({ issuer: 'https://unlisted.example' })),
    ]
  }

  /** The `at`th token of an attacker, who has no key: every second one is of the issuer that no key is known of. */
  inventedToken(at: number): string {
    const { stranger } = this
    const attacked = this.endpoints.filter(({ isUnknown }) => isUnknown === (at % 2 === 0))
    const endpoint = attacked[Math.floor(at / 2) % attacked.length] as Endpoint
    const claims = this.claimsOf(endpoint)
    switch (at % 7) {
      case 0:
      case 1:
        return stranger.sign(claims)
      case 2:
        return stranger.sign(claims, { alg: 'ES256' })
      case 3:
        return stranger.sign({ ...claims, iss: `https://invented-${at}.example` })
      default:
        return stranger.sign(claims, { alg: 'ES256', kid: `invented-${at}` })
    }
  }

  /** The most fetches of one endpoint that the law allows: by schedule, tried again after failures, and for tokens. */
  fetchesMax(seconds: number, keysSeconds: number): number {
    const bySchedule = 1 + seconds / (keysSeconds - 3)
    const forTokens = 1 + seconds / 30
    const afterFailures = Math.log2(seconds + 1) + 1
    return Math.ceil(bySchedule + forTokens + afterFailures)
  }

  /** The number of fetches of each endpoint, by what goes wrong with it. */
  fetches(): readonly (readonly [fault: string, fetches: number])[] {
    return this.endpoints.map(({ path, fault = 'nothing' }) => [fault, this.keys.fetchesOf(path)])
  }
}

/** What an attack led to. */
export interface AttackOutcome {
  /** The statuses of honest requests, without repeats. */
  readonly honest: readonly number[]
  readonly attackers: readonly number[]
  readonly seconds: number
}

/**
 * Sends invented tokens, one each `pauseMs` milliseconds, and as many honest requests in between. Returns after the last
 * answer.
 */
export async function attackSignIn(
  scene: SignInScene,
  send: Send,
  { attacks, pauseMs }: { readonly attacks: number; readonly pauseMs: number },
): Promise<AttackOutcome> {
  const begunAt = performance.now()
  const sent = { honest: [] as ReturnType<Send>[], attackers: [] as ReturnType<Send>[] }
  let honestTokens: (string | undefined)[] = []
  for (let at = 0; at < attacks; at++) {
    if (honestTokens.length === 0) honestTokens = [...scene.honestTokens()]
    sent.attackers.push(send(scene.inventedToken(at)))
    sent.honest.push(send(honestTokens.pop()))
    await sleep(pauseMs)
  }
  const statusesOf = async (answers: readonly ReturnType<Send>[]) =>
    [...new Set((await Promise.all(answers)).map(({ status }) => status))].sort()
  const [honest, attackers] = [await statusesOf(sent.honest), await statusesOf(sent.attackers)]
  return { honest, attackers, seconds: (performance.now() - begunAt) / 1_000 }
}
