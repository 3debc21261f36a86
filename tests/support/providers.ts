import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Signer, startKeyServer } from './key-server.ts'
import { now } from './sign-in.ts'

export type Claims = Readonly<Record<string, unknown>>

/** A token of a provider, with all claims that it publishes. */
export interface Provider {
  /** Where the provider publishes its keys. Undefined for a secret. */
  readonly jwks?: string
  readonly signer: Signer
  /** What its published key has instead. */
  readonly key?: Claims
  /** What its headers have beside `alg` and `kid`. */
  readonly header?: Claims
  readonly claims: Claims
}

const iat = now() - 10
/** The claims of a token that was issued a moment ago. */
export const times = { iat, exp: iat + 3_600 }
const pool = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example'
const supabase = 'https://abcdefghijklmnopqrst.supabase.co/auth/v1'
const supabaseSub = '5bd6b7cc-8a1e-4c2f-9a2b-0c9e2f3f7a11'

/** The claims of an access token of Supabase. */
export const ofSupabase = {
  ...{ iss: supabase, sub: supabaseSub, aud: 'authenticated', ...times },
  ...{ email: 'ann@feed.example', phone: '', role: 'authenticated', aal: 'aal1' },
  app_metadata: { provider: 'email', providers: ['email'], roles: ['moderator'] },
  user_metadata: { email: 'ann@feed.example', email_verified: true, roles: ['admin'] },
  amr: [{ method: 'password', timestamp: iat }],
  ...{ session_id: '1a2b3c4d-0000-4000-8000-123456789abc', is_anonymous: false },
}
/** What all tokens of Cognito have. */
export const ofPool = {
  ...{ sub: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee', iss: pool, 'cognito:groups': ['moderator'] },
  ...{ origin_jti: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000001', auth_time: iat, ...times },
  ...{ event_id: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000002', jti: 'aaaaaaaa-bbbb-4ccc-8ddd-000000003' },
}

const entra = 'https://login.microsoftonline.com/example-tenant-id'
/** The claims of an access token of Microsoft Entra, version 2. */
export const ofEntra = {
  ...{ aud: 'example-client-id', iss: `${entra}/v2.0`, ...times },
  ...{ nbf: iat, aio: 'AXQAi/8TAAAA', azp: 'eeeeeeee-5555-4666-8777-ffffffffffff', azpacr: '0' },
  ...{ name: 'Ann Example', oid: 'cccccccc-3333-4444-8555-dddddddddddd', rh: '0.AAAA.' },
  ...{ preferred_username: 'ann@feed.example', roles: ['moderator'], scp: 'access_as_user' },
  ...{ sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ', uti: 'fqiBqXLPj0eQa82S', ver: '2.0' },
  tid: 'example-tenant-id',
}

/** By the headings of docs/how-to/sign-in.md. */
export const providers: Readonly<Record<string, Provider>> = {
  Auth0: {
    jwks: 'https://example.eu.auth0.com/.well-known/jwks.json',
    signer: new Signer('RS256', 'Q0E4NzY1NDMyMTBGRURDQkE5ODc2NTQzMjEwRkVEQ0JB'),
    claims: {
      'https://feed.example/roles': ['moderator'],
      ...{ iss: 'https://example.eu.auth0.com/', sub: 'auth0|6553da60a54af58e29493993', ...times },
      aud: ['https://feed.example/api', 'https://example.eu.auth0.com/userinfo'],
      ...{ azp: 'K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja', scope: 'openid profile email' },
      permissions: ['read:timeline'],
    },
  },
  Firebase: {
    jwks: 'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    signer: new Signer('RS256', '3f9a050dc4ae828c2871c3d5b0c5a4e6c1f2d3b4'),
    claims: {
      ...{ name: 'Ann Example', picture: 'https://lh3.googleusercontent.com/a/photo=s96-c' },
      roles: ['moderator'],
      ...{ iss: 'https://securetoken.google.com/example-project', aud: 'example-project' },
      ...{ auth_time: iat, user_id: 'ZzX3vNq0JtP8bWmYh2RkLcD5fGu1' },
      ...{ sub: 'ZzX3vNq0JtP8bWmYh2RkLcD5fGu1', ...times },
      ...{ email: 'ann@feed.example', email_verified: true },
      firebase: {
        identities: { 'google.com': ['100000000000000000001'], email: ['ann@feed.example'] },
        sign_in_provider: 'google.com',
      },
    },
  },
  Clerk: {
    jwks: 'https://clerk.feed.example/.well-known/jwks.json',
    signer: new Signer('RS256', 'ins_2cWszPHuo6P2lCdnhhZbVMfbAIC'),
    header: { cat: 'cl_B7d4PD111AAA' },
    claims: {
      ...{ azp: 'https://feed.example', exp: iat + 60, fva: [7, -1], iat, nbf: iat - 10 },
      ...{ iss: 'https://clerk.feed.example', jti: 'b8a1d9f0c2e34a5b6c7d' },
      ...{ metadata: { role: 'moderator' }, sid: 'sess_2cWszPHuo6P2lCdnhhZbVMfbAIC' },
      ...{ sts: 'active', sub: 'user_2cWszPHuo6P2lCdnhhZbVMfbAIC', v: 2 },
    },
  },
  Keycloak: {
    jwks: 'https://id.feed.example/realms/feed/protocol/openid-connect/certs',
    signer: new Signer('RS256', 'nniBrxL0qhG79pkF3ccQj_l0jDmxKrYYy2YLlEe1s8g'),
    claims: {
      ...{ ...times, auth_time: iat, jti: 'onrtac:d58f5dc8-fd8f-462b-8a19-716f8f83985b' },
      ...{ iss: 'https://id.feed.example/realms/feed', aud: ['feedline', 'account'] },
      ...{ sub: '36fa0f91-f94d-4a0c-afed-6b7d952e47da', typ: 'Bearer', azp: 'feed-app' },
      ...{ sid: '2a88c258-f73a-4103-b862-e1fbd8f4e04e', acr: '1' },
      'allowed-origins': ['https://feed.example'],
      realm_access: { roles: ['offline_access', 'moderator'] },
      resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
      ...{ scope: 'openid email profile', email_verified: true, name: 'Ann Example' },
      ...{ preferred_username: 'ann@feed.example', given_name: 'Ann', family_name: 'Example' },
      email: 'ann@feed.example',
    },
  },
  Supabase: {
    jwks: `${supabase}/.well-known/jwks.json`,
    signer: new Signer('ES256', '0ba9c1d2-3e4f-4a5b-8c6d-7e8f90a1b2c3'),
    claims: ofSupabase,
  },
  Cognito: {
    jwks: `${pool}/.well-known/jwks.json`,
    signer: new Signer('RS256', 'abcdefghijklmnopqrsexample='),
    claims: {
      ...{ ...ofPool, aud: '1example23456789', token_use: 'id', 'cognito:username': 'ann' },
      'cognito:roles': ['arn:aws:iam::111122223333:role/example'],
      ...{ email: 'ann@feed.example', email_verified: true, given_name: 'Ann' },
      ...{ identities: [{ userId: '1', providerName: 'Google', primary: 'true' }] },
    },
  },
  'Microsoft Entra': {
    jwks: `${entra}/discovery/v2.0/keys`,
    signer: new Signer('RS256', 'kQ0ZrN8H2c1vY5xW7tUeLm3oPaA'),
    // Its keys name no algorithm.
    key: { alg: undefined, x5t: 'kQ0ZrN8H2c1vY5xW7tUeLm3oPaA', issuer: `${entra}/v2.0` },
    header: { x5t: 'kQ0ZrN8H2c1vY5xW7tUeLm3oPaA' },
    claims: ofEntra,
  },
  'A hand-made JWT': {
    signer: new Signer('HS256', ''),
    claims: { iss: 'https://feed.example', sub: 'alice', roles: 'moderator', exp: iat + 3_600 },
  },
}

export type Environment = Readonly<Record<string, string>>

interface Section {
  readonly env: Environment
  /** The shown part of a token. */
  readonly shown: Claims
}

/** The sections of the document by their headings. */
function readSections(): ReadonlyMap<string, Section> {
  const path = join(import.meta.dirname, '../../docs/how-to/sign-in.md')
  const [, ...parts] = readFileSync(path, 'utf8').split(/^## /m)
  return new Map(
    parts.map((part) => {
      const [title = ''] = part.split('\n')
      const [, variables = ''] = /^```\n([\s\S]*?)^```$/m.exec(part) ?? []
      const [, shown = '{}'] = /^```json\n([\s\S]*?)^```$/m.exec(part) ?? []
      const lines = variables.trimEnd().split('\n')
      const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/)))
      return [title, { env, shown: JSON.parse(shown) }]
    }),
  )
}

export const sections = readSections()
export const sectionOf = (name: string): Section => {
  const section = sections.get(name)
  if (!section) throw new Error(`the document has no section ${name}`)
  return section
}

/** The path of the key server for the keys at a URL. */
const pathOf = (url: string) => url.replace(/^https:\//, '')
const otherKey = new Signer('RS256', 'other')
/** What Keycloak publishes beside the key that signs. */
const encryptionKey = { ...new Signer('RS256', 'enc').jwk, use: 'enc', alg: 'RSA-OAEP' }

/** The keys of the providers. */
export interface ProviderKeys {
  /**
   * The variables of a section in production, with the URL of its keys on the key server, and its
   * secret.
   */
  readonly environmentOf: (name: string, changes?: Environment) => Environment
  readonly close: () => void
}

/** Publishes the keys of all providers on a server of their own. */
export async function publishKeys(): Promise<ProviderKeys> {
  const keyServer = await startKeyServer()
  for (const { jwks, signer, key } of Object.values(providers))
    if (jwks)
      keyServer.publish(pathOf(jwks), otherKey.jwk, encryptionKey, { ...signer.jwk, ...key })
  /** The URL of a path that has the keys of no provider, unless one of them publishes there. */
  const keyHost = keyServer.publish('').replace(/\/$/, '')
  const environmentOf = (name: string, changes: Environment = {}): Environment => {
    const { env } = sectionOf(name)
    const { AUTH_JWKS_URL: url, AUTH_JWT_SECRET: secret } = env
    return {
      ...{ NODE_ENV: 'production', MONGODB_URI: 'embedded', ...env },
      ...(url && { AUTH_JWKS_URL: keyHost + pathOf(url) }),
      ...(secret && { AUTH_JWT_SECRET: providers[name]?.signer.secret ?? '' }),
      ...changes,
    }
  }
  return { environmentOf, close: keyServer.close }
}

/** The claim of the subject in the tokens of a provider. */
export const subjectClaimOf = (name: string): string =>
  sectionOf(name).env.AUTH_SUBJECT_CLAIM ?? 'sub'

const timeClaims = ['auth_time', 'iat', 'nbf', 'exp']

/** Signs a token that a provider has issued a moment ago. */
export const sign = ({ signer, header = {}, claims }: Provider, changes: Claims = {}): string => {
  const { alg, kid } = signer
  // Test files of one process share the claims, and a token of Clerk ends after a minute.
  const age = now() - 10 - iat
  const fresh = timeClaims.flatMap((name) => {
    const time = claims[name]
    return typeof time === 'number' ? [[name, time + age]] : []
  })
  return signer.sign(
    { ...claims, ...Object.fromEntries(fresh), ...changes },
    { alg, typ: 'JWT', kid, ...header },
  )
}
