import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import { type FaultyKeyServer, keyFaults, startFaultyKeyServer } from '../../support/faulty-keys.ts'
import { Signer } from '../../support/key-server.ts'
import { now } from '../../support/sign-in.ts'

/**
 * Sends a request with a token, or without one. @returns the status and the message of the error,
 * if there is one.
 */
type Send = (
  token: string | undefined,
) => Promise<readonly [status: number, problem: string | undefined]>

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
 * A server's key endpoints: the main one, one that stays right, one that was never right, and one
 * for each fault, all of which go wrong once the server has their keys.
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

  /** Has a server fetch the keys of all endpoints, and then makes these go wrong. */
  async begin(send: Send): Promise<void> {
    for (const token of this.honestTokens()) {
      await eventually(async () => {
        const [status, problem] = await send(token)
        if (status !== 200) throw new Error(`an honest request gets status ${status}: ${problem}`)
      })
    }
    this.spoil()
  }

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
  private spoil(which: (endpoint: Endpoint) => boolean = () => true): void {
    for (const endpoint of this.endpoints.filter(which))
      if (endpoint.fault !== undefined) this.keys.spoil(endpoint.path, endpoint.fault)
  }

  private claimsOf({ issuer }: Pick<Endpoint, 'issuer'>) {
    return { iss: issuer, sub: 'ann', exp: now() + 600, jti: `${this.tokens++}` }
  }

  /** A new token of each issuer whose keys the server has, and no token. */
  honestTokens(): readonly (string | undefined)[] {
    const known = this.endpoints.filter(({ isUnknown }) => !isUnknown)
    return [undefined, ...known.map((endpoint) => endpoint.signer.sign(this.claimsOf(endpoint)))]
  }

  /**
   * The endpoint of the `at`th token: often that which the server has no key of, and one that
   * refuses at once.
   */
  private attacked(at: number): Endpoint {
    const { endpoints } = this
    const isFavourite = ({ isUnknown, fault }: Endpoint) =>
      at % 4 === 1 ? fault === 'refuses with status 500' : isUnknown
    const favourite = at % 4 < 3 ? endpoints.find(isFavourite) : undefined
    return favourite ?? (endpoints[Math.floor(at / 4) % endpoints.length] as Endpoint)
  }

  /** The `at`th token of an attacker, who has no key. */
  inventedToken(at: number): string {
    const { stranger } = this
    const claims = this.claimsOf(this.attacked(at))
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

  /** An endpoint has one fetch at a time, and a connection may end after the next one has begun. */
  get connectionsMax(): number {
    return 2 * this.endpoints.length
  }

  /**
   * The most fetches of one endpoint that the law allows: by schedule, tried again after failures,
   * and for tokens.
   */
  fetchesMax(seconds: number): number {
    const bySchedule = 1 + seconds / 57
    const forTokens = 1 + seconds / 30
    const afterFailures = Math.log2(seconds + 1) + 1
    return Math.ceil(bySchedule + forTokens + afterFailures)
  }

  /** The number of fetches of each endpoint, by what goes wrong with it. */
  fetches(): readonly (readonly [fault: string, fetches: number])[] {
    return this.endpoints.map(({ path, fault = 'nothing' }) => [fault, this.keys.fetchesOf(path)])
  }
}

/** How an attack goes on. */
export interface AttackPlan {
  /** The number of invented tokens. */
  readonly requests: number
  /** The number of invented tokens for each honest request. */
  readonly perHonest: number
  /** The time from one token to the next, in milliseconds. */
  readonly pauseMs: number
  /** Whether tokens are invented. Otherwise only honest requests are sent. */
  readonly isAttack: boolean
}

/** What an attack led to. */
export interface AttackOutcome {
  /** What breaks the law. */
  readonly violations: readonly string[]
  /** How long each honest request took, in milliseconds, the longest last. */
  readonly honestMs: readonly number[]
}

/** Sends invented tokens, with honest requests in between. Returns after the last answer. */
export async function attackSignIn(
  scene: SignInScene,
  send: Send,
  { requests, perHonest, pauseMs, isAttack }: AttackPlan,
): Promise<AttackOutcome> {
  const begunAt = performance.now()
  const before = scene.fetches()
  const honestMs: number[] = []
  const violations = new Set<string>()
  const check = async (token: string | undefined, expected: readonly number[], who: string) => {
    const sentAt = performance.now()
    const [status, problem] = await send(token)
    if (expected.includes(status)) return performance.now() - sentAt
    violations.add(`${who} gets status ${status}: ${problem}`)
    return undefined
  }
  const answers: Promise<unknown>[] = []
  let honestTokens: (string | undefined)[] = []
  for (let at = 0; at < requests; at++) {
    if (isAttack) answers.push(check(scene.inventedToken(at), [401, 503], 'an attacker'))
    if (at % perHonest === 0) {
      if (honestTokens.length === 0) honestTokens = [...scene.honestTokens()]
      const honest = check(honestTokens.pop(), [200], 'an honest request')
      answers.push(honest.then((ms) => ms !== undefined && honestMs.push(ms)))
    }
    await sleep(pauseMs)
  }
  await Promise.all(answers)
  const fetchesMax = scene.fetchesMax((performance.now() - begunAt) / 1_000)
  for (const [at, [fault, fetches]] of scene.fetches().entries()) {
    const more = fetches - (before[at]?.[1] ?? 0)
    if (more > fetchesMax)
      violations.add(`${more} fetches where the endpoint has the fault: ${fault}`)
  }
  if (scene.keys.openMax > scene.connectionsMax)
    violations.add(`${scene.keys.openMax} connections to endpoints`)
  return { violations: [...violations], honestMs: honestMs.sort((a, b) => a - b) }
}
