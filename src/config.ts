import { type EngagementKind, kinds, perKind, thresholdDefault } from './engagement/kinds.ts'
import { type Given, readVariables, type ValuesOf } from './lib/variables.ts'
import { type AuthConfig, authConfig, authProblems } from './sign-in.ts'
import { commonVariables, databaseName } from './variables.ts'

/** The storage of a user's followees: a second collection, or the reverse index on followers. */
export type FollowingMode = 'collection' | 'reverse-index'

/** The database that the path of a URI names. Undefined if there is no path. */
const databaseIn = (uri = ''): string | undefined =>
  /^[^:]+:\/\/(?:[^/?@]*@)?[^/?@]*\/([^?@]+)/s.exec(uri)?.[1]

const defaultDatabase = 'feedline'

/** The `MONGODB_URI` of a process that embeds a mongod. */
const embedded = 'embedded'

/**
 * The most requests executed at once. A process lowers it itself while its core has no idle time.
 */
const requestsMax = 100

/**
 * How many viewers' limits the signed-in requests of an address share: those of an office or a
 * shared line.
 */
const viewersPerAddress = 20

/**
 * The most users that a user may follow. It bounds the cost of a timeline that fans out on read.
 */
const followeesMax = 10_000

/** What can be configured, except timelines: `timeline/config.ts` adds these. */
export interface Config {
  readonly production: boolean
  readonly http: {
    readonly host: string
    readonly port: number
    /** The origins whose pages may call this server from a browser. */
    readonly corsOrigins: readonly string[]
    /** The file of the documents that production executes alone. */
    readonly trustedDocuments: string | undefined
    /** The time in which a request is answered, in milliseconds. */
    readonly requestMsMax: number
    /** The addresses of proxies whose `X-Forwarded-For` names the client. */
    readonly trustedProxies: readonly string[]
    /** How many requests are executed at once, at most. */
    readonly requestsMax: number
    /** What one client may use in a minute, of this process or of all together. 0: no limit. */
    readonly rateLimits: Record<'cost' | 'mutations', number> & {
      /** How many viewers' limits the signed-in requests of an address share. */
      readonly viewersPerAddress: number
      /** How many viewers' limits a server that acts for users may use. */
      readonly viewersPerServer: number
      readonly isShared: boolean
    }
  }
  readonly logLevel: string
  readonly database: {
    /** Undefined: an embedded mongod in `dataFolder`. */
    readonly uri: string | undefined
    /** Whether an embedded mongod may be used: it has no authentication. */
    readonly mayEmbed: boolean
    readonly name: string
    readonly dataFolder: string
  }
  readonly following: FollowingMode
  /** The most users that a user may follow. Imports may bring more. */
  readonly followeesMax: number
  readonly engagement: {
    /** How many entries of each kind a post holds itself, before they overflow. */
    readonly thresholds: Readonly<Record<EngagementKind, number>>
    /** How many entries an overflow document holds. */
    readonly capacity: number
  }
  readonly auth: AuthConfig
  readonly users: {
    /** Handles and display names that no new account may take. */
    readonly reservedHandles: readonly string[]
    /** How long an account keeps a handle that it gave up, in days. */
    readonly handleReservedDays: number
  }
  readonly posts: {
    readonly blockedWords: readonly string[]
    /** ES modules whose `validate` joins the chain of content validators. */
    readonly validatorModules: readonly string[]
  }
}

/**
 * How long the lists of a post are.
 * @param threshold how many likes a post holds itself. The other kinds are in proportion, with at
 *   least one entry.
 */
const engagementConfig = (threshold: number): Config['engagement'] => ({
  thresholds: perKind((kind) =>
    Math.max(1, Math.round((kinds[kind].threshold * threshold) / thresholdDefault)),
  ),
  // Few documents hold a long list.
  capacity: Math.min(1_000, 10 * threshold),
})

/** What is wrong with the configuration, all of it at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(readonly problems: readonly string[]) {
    super(`invalid configuration: ${problems.join('; ')}`)
  }
}

/**
 * What a process does: it serves requests, or only uses the database, or needs neither. In
 * production a server must know how viewers sign in, and a database must be named.
 */
export type Use = 'serve' | 'database' | 'none'

/** Reads all of the configuration that timelines do not depend on. */
export function readCommonConfig(
  environment: Given,
  use: Use,
): { config: Config; problems: readonly string[] } {
  const { values: e, wrong, problems } = readVariables(commonVariables, environment)
  const isEmbedded = e.MONGODB_URI === embedded
  const mayEmbed = isEmbedded || e.NODE_ENV !== 'production'
  const inPath = e.MONGODB_DATABASE === undefined ? databaseIn(e.MONGODB_URI) : undefined
  const config: Config = {
    production: e.NODE_ENV === 'production',
    http: {
      host: e.HOST,
      port: e.PORT,
      corsOrigins: e.CORS_ORIGINS,
      trustedDocuments: e.TRUSTED_DOCUMENTS,
      requestMsMax: e.REQUEST_TIMEOUT_SECONDS * 1_000,
      trustedProxies: e.TRUSTED_PROXIES,
      requestsMax,
      rateLimits: {
        cost: e.RATE_LIMIT_COST ?? (e.NODE_ENV === 'production' ? 600_000 : 0),
        mutations: e.RATE_LIMIT_MUTATIONS ?? (e.NODE_ENV === 'production' ? 600 : 0),
        viewersPerAddress,
        viewersPerServer: e.RATE_LIMIT_ACTING,
        isShared: e.RATE_LIMIT_STORE === 'mongodb',
      },
    },
    logLevel: e.LOG_LEVEL,
    database: {
      uri: isEmbedded ? undefined : e.MONGODB_URI,
      mayEmbed,
      name: e.MONGODB_DATABASE ?? inPath ?? defaultDatabase,
      dataFolder: e.FEEDLINE_DATA,
    },
    following: e.FOLLOWING,
    followeesMax,
    engagement: engagementConfig(e.OVERFLOW_THRESHOLD),
    auth: authConfig(e, e.NODE_ENV !== 'production'),
    users: {
      reservedHandles: e.RESERVED_HANDLES,
      handleReservedDays: e.HANDLE_RESERVED_DAYS,
    },
    posts: { blockedWords: e.BLOCKED_WORDS, validatorModules: e.CONTENT_VALIDATORS },
  }
  return {
    config,
    problems: [
      ...problems,
      ...databaseProblems({ ...e, ...wrong }, use !== 'none' && !mayEmbed),
      ...authProblems(e, environment, use === 'serve' && config.production),
    ],
  }
}

type Values = ValuesOf<typeof commonVariables>
type Checked<Name extends keyof Values> = {
  readonly [Key in Name]?: Values[Key] | string | undefined
}

function databaseProblems({ MONGODB_URI }: Checked<'MONGODB_URI'>, isRequired: boolean): string[] {
  return isRequired && !MONGODB_URI
    ? [`MONGODB_URI: production requires it; ${embedded} runs one on this machine`]
    : []
}

/**
 * What is wrong with the database that the path of `MONGODB_URI` names. Undefined if
 * `MONGODB_DATABASE` names another. The sentence does not quote the path, which may be a part of a
 * password that is not percent-encoded.
 */
export function pathProblem(
  uri: string | undefined,
  database: string | undefined,
): string | undefined {
  const problem = databaseName.optional().safeParse(databaseIn(uri)).error?.issues[0]?.message
  if (database || !problem) return undefined
  return (
    `MONGODB_URI: the database in its path ${problem}; ` +
    'set MONGODB_DATABASE, and the path only says where the user is stored'
  )
}
