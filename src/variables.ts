import { z } from 'zod'
import { kinds, type ThresholdVariable } from './engagement/kinds.ts'
import {
  commaList,
  decimal,
  flag,
  httpUrl,
  listenHost,
  mongodbUri,
  oneOf,
  origin,
  port,
  secret,
  type Variables,
  wholeNumber,
  zeroOrWholeNumber,
} from './lib/variables.ts'

// The environment variables that timelines and operation do not depend on: `feed/config.ts` and `http/config.ts` have
// the others. Their texts are the reference in docs/reference/configuration.md, and links are relative to it.

export const hmacAlgorithms = ['HS256', 'HS384', 'HS512'] as const
export const keyAlgorithms = [
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

/** Handles of people who speak for a service. */
const reservedHandles = [
  ...['admin', 'administrator', 'api', 'feedline', 'help', 'mod', 'moderator', 'official', 'root'],
  ...['security', 'staff', 'support', 'system'],
]

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'must be an address or a network, as in 10.0.0.0/8',
})

/** MongoDB's own databases. It takes names that differ by case alone for one. */
const systemDatabases = /^(admin|config|local)$/i
export const databaseName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,63}$/, 'must be 1 to 63 letters, digits, "_" or "-"')
  .refine((name) => !systemDatabases.test(name), {
    error: "must not be one of MongoDB's own databases admin, config and local",
  })

const outsideProduction = '`true` outside production'

/** A rate limit: 0, or at least what one request may need. */
const perMinute = (min: number) => zeroOrWholeNumber(min, 1e9).optional()

export const serving = {
  NODE_ENV: {
    schema: oneOf(['development', 'test', 'production']).default('development'),
    reason: '`production` switches off the playground, introspection and `Dev` sign-in',
    processes: 'own',
  },
  HOST: {
    schema: listenHost.default('127.0.0.1'),
    reason: 'The address to listen on. `[::]` is all addresses, IPv4 too',
    processes: 'own',
  },
  PORT: {
    schema: port.default(4000),
    reason: 'The public port; 0: any free one',
    processes: 'own',
  },
  CORS_ORIGINS: {
    schema: commaList.pipe(z.array(origin)).default([]),
    reason:
      'Pages of these origins may call this server from a browser. Outside production, pages of `localhost` always may',
    processes: 'own',
  },
  TRUSTED_DOCUMENTS: {
    schema: z.string().min(1).optional(),
    unset: 'production executes any document',
    reason:
      'A file of documents: production executes [no others](../how-to/operations.md#persisted-and-trusted-documents). Add documents on all servers before clients use them',
    processes: 'own',
  },
  TRUSTED_PROXIES: {
    schema: commaList.pipe(z.array(network)).default([]),
    reason:
      'Proxies whose `X-Forwarded-For` names the client. Without it, all anonymous clients behind a balancer are one',
    processes: 'own',
  },
  REQUESTS_MAX: {
    schema: wholeNumber(1, 10_000).default(100),
    reason:
      'The most requests executed at once. A [short queue](../how-to/operations.md#overload) waits; others get status 503',
    processes: 'own',
  },
  RATE_LIMIT_COST: {
    schema: perMinute(10_000),
    unset: '`300000` in production, else `0`',
    reason:
      'The [cost](../explanation/architecture.md#the-cost-of-a-request) that a viewer, or an anonymous address, may use in a minute. 0: any',
    processes: 'own',
  },
  RATE_LIMIT_MUTATIONS: {
    schema: perMinute(1),
    unset: '`600` in production, else `0`',
    reason: 'Likewise the number of mutations',
    processes: 'own',
  },
  RATE_LIMIT_ADDRESS_VIEWERS: {
    schema: wholeNumber(0, 1e6).default(20),
    reason:
      "How many viewers' limits the signed-in requests of one address [share](../how-to/operations.md#limit-clients). 0: any",
    processes: 'own',
  },
  RATE_LIMIT_STORE: {
    schema: oneOf(['memory', 'mongodb']).default('memory'),
    reason:
      '`mongodb`: all servers with this value count together, with one command more for each request. Each other server counts alone, so a client may use the limit of each',
    processes: 'own',
  },
  REQUEST_TIMEOUT_SECONDS: {
    schema: decimal(0.1, 300).default(10),
    reason: 'The time in which a request is answered; then it is refused with status 503',
    processes: 'own',
  },
  LOG_LEVEL: {
    schema: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    reason: 'The least severe lines of [the log](../how-to/operations.md#log)',
    processes: 'own',
  },
} as const satisfies Variables

export const database = {
  MONGODB_URI: {
    schema: mongodbUri.optional(),
    unset: 'an embedded MongoDB',
    reason: 'Your replica set or sharded cluster. Processes with other databases share nothing',
    processes: 'own',
  },
  MONGODB_DATABASE: {
    schema: databaseName.optional(),
    unset: 'the path of `MONGODB_URI`, else `feedline`',
    reason: 'Names [the database](../how-to/operations.md#the-database)',
    processes: 'own',
  },
  EMBEDDED_MONGODB: {
    schema: flag.optional(),
    unset: outsideProduction,
    reason:
      'Lets production run on an [embedded MongoDB](../how-to/operations.md#the-embedded-mongodb), which has no authentication',
    processes: 'own',
  },
  MONGOD_BINARY: {
    schema: z.string().min(1).optional(),
    unset: 'one on the PATH, one fetched before, or one fetched now',
    reason: 'The mongod to embed',
    processes: 'own',
  },
  FEEDLINE_DATA: {
    schema: z.string().min(1).default('.feedline'),
    reason: 'The folder of the data and the binary of the embedded MongoDB',
    processes: 'own',
  },
  FOLLOWING: {
    schema: oneOf(['collection', 'reverse-index']).default('collection'),
    reason:
      '`reverse-index` stores each edge once, with two indexes, for small deployments. Fixed when the database is made',
    processes: 'equal',
  },
} as const satisfies Variables

const threshold = (entries: number) => wholeNumber(0, 10_000).default(entries)
const thresholds = Object.fromEntries(
  Object.entries(kinds).map(([name, kind]) => [
    kind.threshold.variable,
    {
      schema: threshold(kind.threshold.default),
      reason: `How many ${name} a post holds itself before they overflow. Lists of every size are read`,
      processes: 'own',
    },
  ]),
) as Record<
  ThresholdVariable,
  { schema: ReturnType<typeof threshold>; reason: string; processes: 'own' }
>

export const limitsOfData = {
  FOLLOWEES_MAX: {
    schema: wholeNumber(1, 1_000_000).default(10_000),
    reason:
      'The most users that a user may follow. It bounds the cost of a timeline. Imports keep all follows',
    processes: 'own',
  },
  ...thresholds,
  OVERFLOW_CAPACITY: {
    schema: wholeNumber(1, 10_000).default(1000),
    reason: 'How many entries an overflow document holds',
    processes: 'own',
  },
  DRIFT_SAMPLE: {
    schema: decimal(0, 1).default(0),
    reason:
      'The share of all users whose data each server checks every hour: [counting](../how-to/counting.md)',
    processes: 'own',
  },
  DRIFT_REPAIR: {
    schema: flag.default(false),
    reason: 'Whether such a check repairs what has drifted, or only reports it',
    processes: 'own',
  },
} as const satisfies Variables

export const signIn = {
  AUTH_JWT_SECRET: {
    schema: secret(32).optional(),
    isSecret: true,
    unset: 'production needs `AUTH_JWKS_URL`',
    reason: 'Verifies `Bearer` tokens by HMAC',
    processes: 'own',
  },
  AUTH_JWKS_URL: {
    schema: httpUrl.optional(),
    unset: 'production needs `AUTH_JWT_SECRET`',
    reason: 'Verifies them by the keys at this URL, which can be rotated without a restart',
    processes: 'own',
  },
  AUTH_ISSUER: {
    schema: z.string().min(1).optional(),
    unset: 'any',
    reason: 'The `iss` that a token must carry',
    processes: 'own',
  },
  AUTH_AUDIENCE: {
    schema: z.string().min(1).optional(),
    unset: 'any',
    reason: 'The `aud` that a token must carry. Set it if your issuer serves other applications',
    processes: 'own',
  },
  AUTH_ALGORITHMS: {
    schema: commaList.pipe(z.array(oneOf([...hmacAlgorithms, ...keyAlgorithms]))).optional(),
    unset: '`HS256` with a secret, `RS256,ES256,EdDSA` with keys',
    reason: 'The algorithms that a token may be signed with',
    processes: 'own',
  },
  AUTH_DEV: {
    schema: flag.optional(),
    unset: outsideProduction,
    reason: 'Accepts `Authorization: Dev <handle>`. Production refuses to start with it',
    processes: 'own',
  },
} as const satisfies Variables

export const content = {
  RESERVED_HANDLES: {
    schema: commaList.default([...reservedHandles]),
    reason: '[Handles and names](names.md) that no new account may take; `,` for none',
    processes: 'own',
  },
  BLOCKED_WORDS: {
    schema: commaList.default([]),
    reason: 'Words and phrases that no post or alternative text may hold',
    processes: 'own',
  },
  CONTENT_VALIDATORS: {
    schema: commaList.default([]),
    reason:
      'ES modules whose `validate({ text, attachments })` returns what is wrong with a post, or nothing',
    processes: 'own',
  },
} as const satisfies Variables

/** All of them. */
export const commonVariables = {
  ...serving,
  ...database,
  ...limitsOfData,
  ...signIn,
  ...content,
} as const satisfies Variables
