import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import {
  commaList,
  decimal,
  type Given,
  httpUrl,
  oneOf,
  secret,
  type ValuesOf,
  type Variables,
} from './lib/variables.ts'

/**
 * The algorithms of a secret, and of published keys. Apart, so that no public key verifies a token
 * as a secret.
 */
const algorithms = {
  secret: ['HS256', 'HS384', 'HS512'],
  jwksUrl: [
    ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
    ...(['ES256', 'ES384', 'ES512', 'EdDSA'] as const),
  ],
} as const

type Algorithm = (typeof algorithms)[keyof typeof algorithms][number]

/** How tokens of the same keys are verified, and which of their claims are read. */
export interface TokenSource {
  /** Undefined if `jwksUrl` is set. */
  readonly secret: string | undefined
  /** Undefined if `secret` is set. */
  readonly jwksUrl: string | undefined
  /** The `iss` that a token must carry. Undefined: any with a secret, none with published keys. */
  readonly issuer: string | undefined
  /**
   * Texts that `iss` had before, the oldest first. Tokens may carry them, and accounts are stored
   * under them.
   */
  readonly formerIssuers: readonly string[]
  /** The values of `aud` of which a token must carry one. Empty: any. */
  readonly audience: readonly string[]
  /** The algorithms that a token may be signed with, at least one. */
  readonly algorithms: readonly Algorithm[]
  readonly subjectClaim: string
  readonly rolesClaim: string | undefined
}

/** A source that alone verifies the tokens of its issuer. */
export interface ListedIssuer extends TokenSource {
  readonly issuer: string
  /**
   * The issuers for whose accounts tokens with the scope `act-for` act. They name and create
   * subjects of the first. Empty: they act for no user.
   */
  readonly actFor: readonly string[]
}

/** How the viewer of a request is known. */
export interface AuthConfig {
  /** Accepts `Authorization: Dev <subject>`. Never in production. */
  readonly dev: boolean
  /** Verifies the tokens of all issuers that are not listed. Undefined: they are refused. */
  readonly main: TokenSource | undefined
  /** At most 20, with distinct issuers. */
  readonly issuers: readonly ListedIssuer[]
  /** The time after which a published key that was withdrawn is refused, in milliseconds. */
  readonly keysMsMax: number
}

/** Whose subjects a name stands for. Two of them never name the same person. */
export interface SubjectIssuer {
  /**
   * The oldest text of its `iss`, so that processes that know fewer texts store the same. Empty:
   * without AUTH_ISSUER.
   */
  readonly issuer: string
  /**
   * Whether the main keys or `Dev` verify them: accounts that were stored without an issuer belong
   * to its subjects.
   */
  readonly isMain: boolean
  /** The other texts of its `iss`. Absent if there are none. */
  readonly otherTexts?: readonly string[]
}

/**
 * The texts of `iss` that tokens of a source may carry, the oldest first. Empty: it has no issuer.
 */
export const issuerTexts = ({
  issuer,
  formerIssuers,
}: Pick<TokenSource, 'issuer' | 'formerIssuers'>): readonly string[] =>
  issuer === undefined ? [] : [...formerIssuers, issuer]

/** Whose subjects the tokens of a source name. Undefined: those of `Dev` alone. */
export function subjectIssuerOf(source: TokenSource | undefined, isMain: boolean): SubjectIssuer {
  const [issuer = '', ...otherTexts] = source ? issuerTexts(source) : []
  return { issuer, isMain, ...(otherTexts.length > 0 && { otherTexts }) }
}

/**
 * Whose subjects tokens with an `iss` name. Undefined if no variable names it.
 * @param iss empty: tokens without `iss`.
 */
export function findIssuer({ dev, main, issuers }: AuthConfig, iss: string) {
  const listed = issuers.find((source) => issuerTexts(source).includes(iss))
  if (listed) return subjectIssuerOf(listed, false)
  const isMain = main && (iss === '' ? main.issuer === undefined : issuerTexts(main).includes(iss))
  return isMain || (dev && iss === '') ? subjectIssuerOf(main, true) : undefined
}

/** Whether a text can be the `iss` of a token. */
export const isIssuer = (text: string): boolean =>
  /^[^\s\p{Cc}]+$/u.test(text) && text.isWellFormed() && Buffer.byteLength(text) <= 255

/**
 * Whether a text is a key of a key pair instead of a secret: PEM, a JWK, a set of them, or the
 * base64 of a public key. A public key is known to all, so a server that took it for a secret would
 * accept tokens of anyone.
 */
function isPublishable(text: string): boolean {
  if (/-----BEGIN |"kty"\s*:/.test(text)) return true
  try {
    createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
    return true
  } catch {
    return false
  }
}

const tokenSecret = secret(32).refine((text) => !isPublishable(text), {
  error: 'must be a secret, and is a key of a key pair',
})

const text = z.string('must be a text')
const claimName = text.min(1, 'must name a claim')
const issuerName = text.refine(isIssuer, { error: 'must be 1 to 255 bytes without white space' })
const audience = text.min(1, 'must name an audience')
const audiences = (list: z.ZodType<string[], unknown>) =>
  list.refine((values) => values.length > 0, { error: 'must name an audience' })
const formerIssuersMax = 8
const formerIssuers = (list: z.ZodType<string[], unknown>) =>
  list
    .refine(({ length }) => length > 0, { error: 'must name an issuer' })
    .refine(({ length }) => length <= formerIssuersMax, {
      error: `must be at most ${formerIssuersMax} issuers`,
    })
    .refine((texts) => new Set(texts).size === texts.length, { error: 'must name each text once' })
const algorithmList = z
  .array(oneOf([...algorithms.secret, ...algorithms.jwksUrl]), 'must be a list of algorithms')
  .refine((values) => values.length > 0, { error: 'must name an algorithm' })

type KeyKind = keyof typeof algorithms
const kindOf = (keys: { readonly secret?: string | undefined }): KeyKind =>
  keys.secret === undefined ? 'jwksUrl' : 'secret'

/** What is wrong with the algorithms of a kind of keys, as the end of a sentence. */
function algorithmsProblem(kind: KeyKind, names: readonly string[]): string | undefined {
  const allowed: readonly string[] = algorithms[kind]
  if (names.every((name) => allowed.includes(name))) return undefined
  return `must be of ${allowed.join(', ')} for ${kind === 'secret' ? 'a secret' : 'published keys'}`
}

/** Of a secret that algorithm alone which `feedline token` and most libraries use. */
const defaultAlgorithms = (kind: KeyKind): readonly Algorithm[] =>
  kind === 'secret' ? ['HS256'] : algorithms.jwksUrl

const fields = {
  issuer: issuerName,
  formerIssuers: formerIssuers(z.array(issuerName, 'must be a list of texts')).default([]),
  jwksUrl: text.pipe(httpUrl).optional(),
  secret: text.pipe(tokenSecret).optional(),
  audience: z
    .union([audience.transform((name) => [name]), audiences(z.array(audience))], {
      error: 'must be a text or a list of texts',
    })
    .default([]),
  algorithms: algorithmList.optional(),
  subjectClaim: claimName.default('sub'),
  rolesClaim: claimName.optional(),
  actFor: z
    .union([issuerName.transform((name) => [name]), z.array(issuerName)], {
      error: 'must be an issuer or a list of issuers',
    })
    .refine((names) => names.length > 0, { error: 'must be an issuer or a list of issuers' })
    .default([]),
}
const fieldNames = Object.keys(fields).join(', ')

const listedIssuer = z
  .strictObject(fields, { error: `must be an object, with no fields but ${fieldNames}` })
  .superRefine((entry, { addIssue }) => {
    if ((entry.secret === undefined) === (entry.jwksUrl === undefined)) {
      addIssue({ code: 'custom', message: 'must have either jwksUrl or secret' })
    }
    const problem = algorithmsProblem(kindOf(entry), entry.algorithms ?? [])
    if (problem) addIssue({ code: 'custom', path: ['algorithms'], message: problem })
  })
  .transform(
    (entry): ListedIssuer => ({
      ...{ secret: undefined, jwksUrl: undefined, rolesClaim: undefined },
      ...entry,
      algorithms: entry.algorithms ?? defaultAlgorithms(kindOf(entry)),
    }),
  )

const issuersMax = 20
const issuersProblem = `must be a JSON array of 1 to ${issuersMax} issuers`

const listedIssuers = z
  .array(listedIssuer, issuersProblem)
  .min(1, issuersProblem)
  .max(issuersMax, issuersProblem)
  .superRefine((entries, { addIssue }) => {
    const firsts = new Map<string, number>()
    for (const [at, entry] of entries.entries()) {
      for (const name of new Set(issuerTexts(entry).toReversed())) {
        const first = firsts.get(name)
        const path = [at, name === entry.issuer ? 'issuer' : 'formerIssuers']
        if (first !== undefined)
          addIssue({ code: 'custom', path, message: `must not be that of ${first}` })
        else if (name === entry.issuer && entry.formerIssuers.includes(name))
          addIssue({
            code: 'custom',
            path: [at, 'formerIssuers'],
            message: 'must not be its issuer',
          })
        else firsts.set(name, at)
      }
    }
  })

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Its problems begin with the place in the array. */
const issuersJson = z.string().transform((json, { addIssue }): readonly ListedIssuer[] => {
  const { data, error } = listedIssuers.safeParse(parseJson(json))
  for (const { path, message } of error?.issues ?? []) {
    addIssue({ code: 'custom', message: `${path.join('.')} ${message}`.trim() })
  }
  return data ?? z.NEVER
})

/** The environment variables of sign-in. */
export const signIn = {
  AUTH_JWT_SECRET: {
    schema: tokenSecret.optional(),
    isSecret: true,
    unset: 'production needs a secret, keys or issuers',
    reason: 'Verifies `Bearer` tokens by HMAC. [Sign in](../how-to/sign-in.md) has examples',
    processes: 'own',
  },
  AUTH_JWKS_URL: {
    schema: httpUrl.optional(),
    unset: 'likewise',
    reason: 'Verifies them by the keys at this URL',
    processes: 'own',
  },
  AUTH_ISSUER: {
    schema: issuerName.optional(),
    unset: 'any with a secret, none with keys at a URL',
    reason: 'The `iss` that a token must carry',
    processes: 'own',
  },
  AUTH_FORMER_ISSUERS: {
    schema: formerIssuers(commaList.pipe(z.array(issuerName))).optional(),
    unset: 'none',
    reason:
      '[Earlier texts](../how-to/sign-in.md#when-the-issuer-changes) of `AUTH_ISSUER`, the oldest first',
    processes: 'own',
  },
  AUTH_AUDIENCE: {
    schema: audiences(commaList).optional(),
    unset: 'any',
    reason:
      'A token must carry one of these in `aud`. Set it if the issuer serves other applications',
    processes: 'own',
  },
  AUTH_ALGORITHMS: {
    schema: commaList.pipe(algorithmList).optional(),
    unset: '`HS256` of a secret, each other one of published keys',
    reason: 'The algorithms of tokens',
    processes: 'own',
  },
  AUTH_SUBJECT_CLAIM: {
    schema: z.string().min(1).default('sub'),
    reason: 'The claim that names the viewer for ever. No user may be able to change it',
    processes: 'own',
  },
  AUTH_ROLES_CLAIM: {
    schema: z.string().min(1).optional(),
    unset: 'no roles',
    reason:
      'The claim of `MODERATOR` and `ADMIN`: its name, or a path such as `realm_access.roles`',
    processes: 'own',
  },
  AUTH_KEYS_SECONDS: {
    schema: decimal(10, 3_600).default(60),
    reason:
      'The time after which a [withdrawn](../how-to/operations.md#rotate-secrets) published key is refused. Raise it if your provider limits fetches',
    processes: 'own',
  },
  AUTH_ISSUERS: {
    schema: issuersJson.optional(),
    isSecret: true,
    unset: 'none',
    reason: '[Further issuers](../how-to/sign-in.md#several-issuers) with keys of their own',
    processes: 'own',
  },
} as const satisfies Variables

type Values = ValuesOf<typeof signIn>

/** @param dev whether viewers may sign in by `Dev`. */
export function authConfig(e: Values, dev: boolean): AuthConfig {
  const keys = { secret: e.AUTH_JWT_SECRET, jwksUrl: e.AUTH_JWKS_URL }
  const hasKeys = Object.values(keys).some((value) => value !== undefined)
  const main: TokenSource = {
    ...keys,
    issuer: e.AUTH_ISSUER,
    formerIssuers: e.AUTH_FORMER_ISSUERS ?? [],
    audience: e.AUTH_AUDIENCE ?? [],
    algorithms: e.AUTH_ALGORITHMS ?? defaultAlgorithms(kindOf(keys)),
    subjectClaim: e.AUTH_SUBJECT_CLAIM,
    rolesClaim: e.AUTH_ROLES_CLAIM,
  }
  return {
    dev,
    main: hasKeys ? main : undefined,
    issuers: e.AUTH_ISSUERS ?? [],
    keysMsMax: e.AUTH_KEYS_SECONDS * 1_000,
  }
}

/** The variables that the issuers of `AUTH_ISSUERS` have of their own. */
const ofMainKeys = [
  ...['AUTH_ISSUER', 'AUTH_FORMER_ISSUERS', 'AUTH_AUDIENCE', 'AUTH_ALGORITHMS'],
  ...['AUTH_SUBJECT_CLAIM', 'AUTH_ROLES_CLAIM'],
]

/**
 * What is wrong with variables of sign-in together.
 * @param environment the variables as they were given, also those that are wrong by themselves.
 * @param isRequired whether viewers must be able to sign in by a token.
 */
export function authProblems(e: Values, environment: Given, isRequired: boolean): string[] {
  const problems: string[] = []
  const { AUTH_JWT_SECRET, AUTH_JWKS_URL, AUTH_ISSUERS } = environment
  if (isRequired && !AUTH_JWT_SECRET && !AUTH_JWKS_URL && !AUTH_ISSUERS) {
    problems.push('AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS: production requires one of them')
  }
  if (AUTH_JWT_SECRET && AUTH_JWKS_URL) {
    problems.push('AUTH_JWT_SECRET and AUTH_JWKS_URL: only one may be set')
  }
  if (AUTH_ISSUERS && !AUTH_JWT_SECRET && !AUTH_JWKS_URL) {
    for (const name of ofMainKeys.filter((each) => environment[each] !== undefined)) {
      problems.push(
        `${name}: is for tokens of AUTH_JWT_SECRET or AUTH_JWKS_URL; set it in AUTH_ISSUERS instead`,
      )
    }
  }
  const kind = AUTH_JWT_SECRET ? 'secret' : AUTH_JWKS_URL ? 'jwksUrl' : undefined
  const wrong = kind && algorithmsProblem(kind, e.AUTH_ALGORITHMS ?? [])
  if (wrong) problems.push(`AUTH_ALGORITHMS: ${wrong}`)
  return [...problems, ...issuerProblems(e)]
}

/** What is wrong with the names of issuers together: each text names one issuer. */
function issuerProblems(e: Values): string[] {
  const problems: string[] = []
  const { AUTH_ISSUER: issuer, AUTH_FORMER_ISSUERS: former = [], AUTH_ISSUERS: listed = [] } = e
  if (former.length > 0 && issuer === undefined)
    problems.push('AUTH_FORMER_ISSUERS: set AUTH_ISSUER to the present one')
  if (issuer !== undefined && former.includes(issuer))
    problems.push('AUTH_FORMER_ISSUERS: must not name AUTH_ISSUER')
  for (const [at, entry] of listed.entries()) {
    for (const field of ['issuer', 'formerIssuers'] as const) {
      const texts = [entry[field]].flat()
      if (issuer !== undefined && texts.includes(issuer))
        problems.push(`AUTH_ISSUERS: ${at}.${field} must not be AUTH_ISSUER`)
      if (texts.some((text) => former.includes(text)))
        problems.push(`AUTH_ISSUERS: ${at}.${field} must not be of AUTH_FORMER_ISSUERS`)
    }
    if (entry.actFor.some((each) => findIssuer(authConfig(e, false), each) === undefined))
      problems.push(`AUTH_ISSUERS: ${at}.actFor must be AUTH_ISSUER or an issuer of AUTH_ISSUERS`)
  }
  return problems
}
