import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import { createAuthenticate } from '../../src/graphql/auth.ts'
import { KeySet } from '../../src/graphql/key-set.ts'
import { KeySets } from '../../src/graphql/key-sets.ts'
import { parseKeys } from '../../src/graphql/published-keys.ts'
import { createLog } from '../../src/log.ts'
import { eventually } from '../support/eventually.ts'
import { keyFaults, startFaultyKeyServer } from '../support/faulty-keys.ts'
import { type Jwk, Signer } from '../support/key-server.ts'
import { usePassTime } from '../support/pass-time.ts'
import { patient } from '../support/patience.ts'
import { now } from '../support/sign-in.ts'

const keyServer = await startFaultyKeyServer()
afterAll(() => keyServer.close())
const passTime = usePassTime()

const hour = 3_600_000
let paths = 0

/** The keys of a new endpoint, and a log of what is said about them. */
function open(keys: readonly Jwk[], ageMsMax = hour) {
  const path = `/${paths++}`
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => void lines.push(line) })
  const url = keyServer.publish(path, ...keys)
  const set = new KeySet({ name: 'AUTH_JWKS_URL', url, ageMsMax }, log)
  const logged = () => lines.map((line) => JSON.parse(line) as { msg: string; problem: string })
  return { path, set, logged }
}

/** The messages of lines, without repeats. */
const messagesOf = (lines: readonly { readonly msg: string }[]) => [
  ...new Set(lines.map(({ msg }) => msg)),
]

const signer = new Signer('ES256', 'key')

// At once, because some of them take as long as a fetch may.
test.concurrent.each(Object.keys(keyFaults))(
  'an endpoint that %s leaves the last keys in use, and is in the log once',
  async (fault) => {
    const { path, set, logged } = open([signer.jwk])
    const keys = await set.load()
    const sentBefore = keyServer.sentBytes
    keyServer.spoil(path, fault)
    passTime(31_000)
    expect(await set.renew(keys)).toBeUndefined()
    // On a busy machine, it would try again before the end of the test.
    set.stop()
    expect(await set.load()).toBe(keys)
    expect(set.isFailing).toBe(true)
    expect(messagesOf(logged())).toEqual([
      'published keys cannot be fetched; the last ones stay in use',
    ])
    // What the sockets of both sides hold, at most.
    expect(keyServer.sentBytes - sentBefore).toBeLessThan(16 * 1024 ** 2)
  },
  patient(30_000),
)

test('the last keys stay in use for a day', async () => {
  const { path, set, logged } = open([signer.jwk])
  const keys = await set.load()
  keyServer.spoil(path, 'sends no JSON')
  passTime(86_000_000)
  expect(await set.renew(keys)).toBeUndefined()
  expect(await set.load()).toBe(keys)
  passTime(401_000)
  expect(set.current).toBeUndefined()
  await expect(set.load()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(messagesOf(logged())).toEqual([
    'published keys cannot be fetched; the last ones stay in use',
    'published keys cannot be fetched; their tokens are refused',
  ])
  set.stop()
})

test('keys that are fetched again are in use, and the log says so', async () => {
  const { path, set, logged } = open([signer.jwk])
  keyServer.spoil(path, 'sends no JSON')
  await expect(set.load()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  keyServer.publish(path, signer.jwk)
  passTime(31_000)
  await eventually(async () => expect((await set.load()).isCurrent).toBe(true))
  expect(logged().map(({ msg }) => msg)).toEqual([
    'published keys cannot be fetched; their tokens are refused',
    'published keys are fetched again',
  ])
  set.stop()
})

test(
  'at most 100 requests wait for a fetch, others are refused at once, and one fetch serves all',
  async () => {
    const { path, set } = open([signer.jwk])
    keyServer.spoil(path, 'never answers')
    let refused = 0
    const loads = Array.from({ length: 300 }, () => set.load().catch(() => refused++))
    await setImmediate()
    expect(refused).toBe(200)
    await eventually(() => expect(keyServer.fetchesOf(path)).toBe(1))
    await Promise.all(loads)
    expect(refused).toBe(300)
    set.stop()
  },
  patient(30_000),
)

test('keys that do not verify a token are fetched again once in 30 s, whatever the number of tokens', async () => {
  const { path, set } = open([signer.jwk])
  const keys = await set.load()
  for (let period = 0; period < 3; period++) {
    passTime(31_000)
    for (let n = 0; n < 50; n++) expect(await set.renew(keys)).toBeUndefined()
  }
  expect(keyServer.fetchesOf(path)).toBe(4)
  expect(await set.load()).toBe(keys)
  set.stop()
})

test('a stop ends a fetch that is under way, and begins no other', async () => {
  const { path, set, logged } = open([])
  keyServer.spoil(path, 'never answers')
  const waiting = set.load()
  await eventually(() => expect(keyServer.fetchesOf(path)).toBe(1))
  set.stop()
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(logged()).toEqual([])
})

test('a withdrawn key is refused without a token that asks for others, also for a token that it has verified', async () => {
  const [kept, withdrawn] = [new Signer('ES256', 'kept'), new Signer('ES256', 'withdrawn')]
  const url = keyServer.publish('/withdrawn', kept.jwk, withdrawn.jwk)
  const { auth } = readConfig({ AUTH_JWKS_URL: url })
  // A second after each fetch, the next one begins.
  const keySets = new KeySets({ ...auth, keysMsMax: 4_000 })
  keySets.start()
  const authenticate = createAuthenticate(auth, keySets)
  const outcomeOf = (token: string) =>
    authenticate([`Bearer ${token}`]).then(
      (signedIn) => signedIn?.subject.sub,
      ({ code }) => code,
    )
  const tokens = [kept, withdrawn].map((each) => each.sign({ sub: 'ann', exp: now() + 600 }))
  const outcomes = () => Promise.all(tokens.map(outcomeOf))
  expect(await outcomes()).toEqual(['ann', 'ann'])
  keyServer.publish('/withdrawn', kept.jwk)
  await eventually(async () => expect(await outcomes()).toEqual(['ann', 'UNAUTHENTICATED']))
  keySets.stop()
})

describe('a key of a set', () => {
  const weak = new Signer('RS256', 'weak', 1_024)
  const right = new Signer('RS256', 'right')
  const { n: _, ...withoutModulus } = right.jwk
  /** Each of them signs tokens under its name, and none of them is accepted. */
  const unusable: Readonly<Record<string, [key: Jwk, problem: string | undefined]>> = {
    'that has 1,024 bits': [weak.jwk, 'it has 1024 bits, and RSA needs at least 2048'],
    'with the exponent 1, by which anyone signs': [
      { ...right.jwk, e: 'AQ', kid: 'weak' },
      'it has the exponent 1',
    ],
    'with an even exponent': [{ ...right.jwk, e: 'Ag', kid: 'weak' }, 'it has the exponent 2'],
    'without a modulus': [{ ...withoutModulus, kid: 'weak' }, 'it is malformed'],
    'of a type that no one knows': [{ kty: 'X', kid: 'weak' }, 'it is malformed'],
    'without a type': [{ kid: 'weak' }, 'it is malformed'],
    'of a curve that no one knows': [
      { kty: 'EC', crv: 'P-1', x: 'A', y: 'A', kid: 'weak' },
      'malformed',
    ],
    'that is no point of its curve': [
      { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'weak' },
      'it is malformed',
    ],
    'that is a secret': [{ kty: 'oct', k: 'c2VjcmV0', kid: 'weak' }, 'it is secret'],
    'that is private': [{ ...right.jwk, d: 'AA', kid: 'weak' }, 'it is secret'],
    'that encrypts': [{ ...right.jwk, use: 'enc', kid: 'weak' }, undefined],
    'that only signs': [{ ...right.jwk, key_ops: ['sign'], kid: 'weak' }, undefined],
    'whose operations are no list': [{ ...right.jwk, key_ops: 'verify', kid: 'weak' }, undefined],
    'whose name is a number': [{ ...right.jwk, kid: 7 }, 'it has a "kid" that is no text'],
    'whose algorithm is a list': [{ ...right.jwk, alg: ['RS256'], kid: 'weak' }, undefined],
    'of another algorithm': [{ ...right.jwk, alg: 'RSA-OAEP', kid: 'weak' }, undefined],
  }
  test.each(Object.entries(unusable))(
    '%s verifies nothing, and the others do',
    async (_, [jwk, problem]) => {
      const path = `/unusable${paths++}`
      const { auth } = readConfig({ AUTH_JWKS_URL: keyServer.publish(path, jwk, right.jwk) })
      const lines: string[] = []
      const log = createLog('info', { write: (line: string) => void lines.push(line) })
      const authenticate = createAuthenticate(auth, new KeySets(auth, log))
      const claims = { sub: 'ann', exp: now() + 600 }
      for (const signed of [weak, right].map((by) =>
        by.sign(claims, { alg: 'RS256', kid: 'weak' }),
      ))
        await expect(authenticate([`Bearer ${signed}`])).rejects.toMatchObject({
          code: 'UNAUTHENTICATED',
        })
      const signedIn = await authenticate([`Bearer ${right.sign(claims)}`])
      expect(signedIn?.subject.sub).toBe('ann')
      const problems = lines.map((line) => JSON.parse(line).problem)
      if (problem === undefined) return expect(problems).toEqual([])
      expect(problems).toEqual([expect.stringContaining(problem)])
      expect(problems[0]).toMatch(/^the key (with the "kid" "weak"|without a "kid") /)
    },
  )

  test('with members that no one knows, of any depth, verifies its tokens', async () => {
    const depth = 50_000
    const jwk = { ...right.jwk, x5c: 'deep', ext: 7, key_ops: ['verify', 'verify'] }
    const keys = JSON.stringify({ keys: [jwk] }).replace(
      '"deep"',
      `${'['.repeat(depth)}${']'.repeat(depth)}`,
    )
    const { usable, problems } = parseKeys(keys)
    expect([usable.keys.length, problems]).toEqual([1, []])
    expect(JSON.stringify(usable).length).toBeLessThan(600)
  })

  test('under a name that another key has too verifies its tokens', async () => {
    const twins = [new Signer('ES256', 'twin'), new Signer('ES256', 'twin')]
    const url = keyServer.publish('/twins', ...twins.map(({ jwk }) => jwk))
    const authenticate = createAuthenticate(readConfig({ AUTH_JWKS_URL: url }).auth)
    for (const twin of twins) {
      const signedIn = await authenticate([`Bearer ${twin.sign({ sub: 'ann', exp: now() + 600 })}`])
      expect(signedIn?.subject.sub).toBe('ann')
    }
    const thief = new Signer('ES256', 'twin').sign({ sub: 'ann', exp: now() + 600 })
    await expect(authenticate([`Bearer ${thief}`])).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
  })
})
