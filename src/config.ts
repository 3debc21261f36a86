import { z } from 'zod'
import { type EngagementKind, kinds, perKind, type ThresholdVariable } from './engagement/kinds.ts'

/** The strategies that may assemble a timeline (seed 1). Which of them serve here is `feed.maintained`. */
export const feedStrategyNames = [
  'FANOUT_ON_READ',
  'TIME_BUCKETS',
  'SIZED_BUCKETS',
  'CACHE',
  'INBOX',
  'HYBRID',
] as const
export type FeedStrategyName = (typeof feedStrategyNames)[number]

/** What an entry of a materialised timeline holds of its post (seed 1: linking, embedding). */
export const entryContents = ['id', 'author', 'text'] as const
export type EntryContent = (typeof entryContents)[number]

/** Where "whom does this user follow" is answered from: a second collection, or the reverse index on followers (seed 4). */
export type FollowingMode = 'collection' | 'reverse-index'

const hmacAlgorithms = ['HS256', 'HS384', 'HS512'] as const
const keyAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const

const portMax = 65_535
const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)

const entries = (min: number) => z.coerce.number().int().min(min).max(10_000)
/** Entries of one document: with 3,000 bytes of text each it stays below MongoDB's 16 MB, whatever entries hold. */
const entriesOfDocument = z.coerce.number().int().min(1).max(4_000)

const threshold = (entriesByDefault: number) => entries(0).default(entriesByDefault)
const thresholds = Object.fromEntries(
  Object.values(kinds).map((kind) => [kind.threshold.variable, threshold(kind.threshold.default)]),
) as Record<ThresholdVariable, ReturnType<typeof threshold>>

const environment = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z
    .string()
    .refine((text) => /^\d+$/.test(text) && Number(text) <= portMax, {
      error: `must be a whole number from 0 to ${portMax}`,
    })
    .transform(Number)
    .default(4000),
  CORS_ORIGINS: list.pipe(z.array(z.url({ protocol: /^https?$/ }))).default([]),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://')
    .optional(),
  MONGODB_DATABASE: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,63}$/, 'must be 1 to 63 letters, digits, "_" or "-"')
    .default('feedline'),
  MONGOD_BINARY: z.string().min(1).optional(),
  FEEDLINE_DATA: z.string().min(1).default('.feedline'),
  FOLLOWING: z.enum(['collection', 'reverse-index']).default('collection'),
  FEED_STRATEGY: z.enum(feedStrategyNames).default('FANOUT_ON_READ'),
  FEED_MAINTAINED: list.pipe(z.array(z.enum(feedStrategyNames))).default([]),
  TIMELINE_ENTRIES: z.enum(entryContents).default('author'),
  TIME_BUCKET_DAYS: z.coerce.number().min(0.01).max(366).default(7),
  SIZED_BUCKET_SIZE: entriesOfDocument.default(50),
  CACHE_SIZE: entriesOfDocument.default(50),
  CACHE_AWAY_DAYS: z.coerce.number().min(0.01).max(3660).default(30),
  HYBRID_THRESHOLD: z.coerce.number().int().min(1).max(1e9).default(10_000),
  FANOUT_INLINE_MAX: z.coerce.number().int().min(0).max(10_000).default(200),
  ...thresholds,
  OVERFLOW_CAPACITY: entries(1).default(1000),
  DRIFT_SAMPLE: z.coerce.number().min(0).max(1).default(0),
  DRIFT_REPAIR: flag.default(false),
  AUTH_JWT_SECRET: z.string().min(32, 'must be at least 32 characters').optional(),
  AUTH_JWKS_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  AUTH_ISSUER: z.string().min(1).optional(),
  AUTH_AUDIENCE: z.string().min(1).optional(),
  AUTH_ALGORITHMS: list.pipe(z.array(z.enum([...hmacAlgorithms, ...keyAlgorithms]))).optional(),
  AUTH_DEV: flag.optional(),
  BLOCKED_WORDS: list.default([]),
  CONTENT_VALIDATORS: list.default([]),
})

/** The names of all environment variables that Feedline reads. */
export const variableNames: readonly string[] = Object.keys(environment.shape)

/** Everything that can be configured, read once at start. README lists the variables. */
export interface Config {
  readonly production: boolean
  readonly http: {
    readonly host: string
    readonly port: number
    /** The origins whose pages may call this server from a browser. */
    readonly corsOrigins: readonly string[]
  }
  readonly logLevel: string
  readonly database: {
    /** Undefined: an embedded mongod in `dataFolder`. */
    readonly uri: string | undefined
    readonly name: string
    readonly mongodBinary: string | undefined
    readonly dataFolder: string
  }
  readonly following: FollowingMode
  readonly feed: {
    readonly strategy: FeedStrategyName
    /** Those that a query may name; FANOUT_ON_READ and the default are always among them. */
    readonly maintained: readonly FeedStrategyName[]
    /** What the entries of materialised timelines hold. */
    readonly entries: EntryContent
    readonly timeBucketDays: number
    readonly sizedBucketSize: number
    readonly cacheSize: number
    /** How long a reader may be away before their cache is dropped. */
    readonly cacheAwayDays: number
    /** From so many followers on, an author is read instead of delivered under HYBRID. */
    readonly hybridThreshold: number
    /** Audiences up to this size are delivered to by the process that took the post. */
    readonly inlineMax: number
  }
  readonly engagement: {
    /** How many entries of each kind a post holds itself, before they overflow. */
    readonly thresholds: Readonly<Record<EngagementKind, number>>
    /** How many entries an overflow document holds. */
    readonly capacity: number
  }
  readonly drift: {
    /** Which share of all users is looked at every hour; 0: none. */
    readonly sharePerHour: number
    /** Whether what has drifted is repaired, or only told of. */
    readonly repair: boolean
  }
  readonly auth: AuthConfig
  readonly posts: {
    readonly blockedWords: readonly string[]
    /** ES modules whose `validate` joins the chain of content validators. */
    readonly validatorModules: readonly string[]
  }
}

/** How the viewer of a request is known. */
export interface AuthConfig {
  /** Accepts `Authorization: Dev <handle>`. Never in production. */
  readonly dev: boolean
  readonly secret: string | undefined
  readonly jwksUrl: string | undefined
  readonly issuer: string | undefined
  readonly audience: string | undefined
  readonly algorithms: readonly string[]
}

/** What is wrong with the configuration, all of it at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly string[]) {
    super(`invalid configuration: ${problems.join('; ')}`)
  }
}

/**
 * Reads the configuration from environment variables; an empty or blank one counts as absent.
 * @throws {ConfigError} naming every variable that is wrong.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))
  const issues = environment.safeParse(given).error?.issues ?? []
  const problems = issues.map((issue) => `${issue.path[0]?.toString()}: ${issue.message}`)
  // What is wrong by itself is left out of the rest, so that this is checked all the same.
  const wrong = new Set(issues.map(({ path }) => path[0]))
  const isWrong = ([name]: [string, unknown]) => wrong.has(name)
  const entries = Object.entries(given)
  const e = environment.parse(Object.fromEntries(entries.filter((one) => !isWrong(one))))
  const maintained = feedStrategyNames.filter(
    (name) =>
      name === 'FANOUT_ON_READ' || name === e.FEED_STRATEGY || e.FEED_MAINTAINED.includes(name),
  )
  problems.push(...authProblems({ ...e, ...Object.fromEntries(entries.filter(isWrong)) }))
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    production: e.NODE_ENV === 'production',
    http: { host: e.HOST, port: e.PORT, corsOrigins: e.CORS_ORIGINS },
    logLevel: e.LOG_LEVEL,
    database: {
      uri: e.MONGODB_URI,
      name: e.MONGODB_DATABASE,
      mongodBinary: e.MONGOD_BINARY,
      dataFolder: e.FEEDLINE_DATA,
    },
    following: e.FOLLOWING,
    feed: {
      strategy: e.FEED_STRATEGY,
      maintained,
      entries: e.TIMELINE_ENTRIES,
      timeBucketDays: e.TIME_BUCKET_DAYS,
      sizedBucketSize: e.SIZED_BUCKET_SIZE,
      cacheSize: e.CACHE_SIZE,
      cacheAwayDays: e.CACHE_AWAY_DAYS,
      hybridThreshold: e.HYBRID_THRESHOLD,
      inlineMax: e.FANOUT_INLINE_MAX,
    },
    engagement: {
      thresholds: perKind((kind) => e[kinds[kind].threshold.variable]),
      capacity: e.OVERFLOW_CAPACITY,
    },
    drift: { sharePerHour: e.DRIFT_SAMPLE, repair: e.DRIFT_REPAIR },
    auth: {
      dev: e.AUTH_DEV ?? e.NODE_ENV !== 'production',
      secret: e.AUTH_JWT_SECRET,
      jwksUrl: e.AUTH_JWKS_URL,
      issuer: e.AUTH_ISSUER,
      audience: e.AUTH_AUDIENCE,
      algorithms: e.AUTH_ALGORITHMS ?? (e.AUTH_JWKS_URL ? ['RS256', 'ES256', 'EdDSA'] : ['HS256']),
    },
    posts: { blockedWords: e.BLOCKED_WORDS, validatorModules: e.CONTENT_VALIDATORS },
  }
}

type AuthVariables = Partial<
  Pick<
    z.infer<typeof environment>,
    'NODE_ENV' | 'AUTH_JWT_SECRET' | 'AUTH_JWKS_URL' | 'AUTH_ALGORITHMS'
  >
> & { AUTH_DEV?: boolean | string | undefined }

function authProblems(e: AuthVariables): string[] {
  const problems: string[] = []
  if (e.NODE_ENV === 'production') {
    if (String(e.AUTH_DEV) === 'true') {
      problems.push(
        'AUTH_DEV: must not be true in production: it lets every client act as any user',
      )
    }
    if (!e.AUTH_JWT_SECRET && !e.AUTH_JWKS_URL) {
      problems.push('AUTH_JWT_SECRET or AUTH_JWKS_URL: production requires one of them')
    }
  }
  if (e.AUTH_JWT_SECRET && e.AUTH_JWKS_URL) {
    problems.push('AUTH_JWT_SECRET and AUTH_JWKS_URL: only one may be set')
  }
  if (Array.isArray(e.AUTH_ALGORITHMS)) {
    const allowed: readonly string[] = e.AUTH_JWKS_URL ? keyAlgorithms : hmacAlgorithms
    const wrong = e.AUTH_ALGORITHMS.filter((name) => !allowed.includes(name))
    if (wrong.length > 0) {
      problems.push(
        `AUTH_ALGORITHMS: ${wrong.join(', ')} cannot be used with ${e.AUTH_JWKS_URL ? 'AUTH_JWKS_URL' : 'AUTH_JWT_SECRET'}`,
      )
    }
  }
  return problems
}
