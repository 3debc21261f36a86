import { z } from 'zod'
import { thresholdDefault } from './engagement/kinds.ts'
import {
  commaList,
  decimal,
  listenHost,
  mongodbUri,
  oneOf,
  origin,
  port,
  type Variables,
  wholeNumber,
  zeroOrWholeNumber,
} from './lib/variables.ts'
import { signIn } from './sign-in.ts'

// The environment variables that timelines, operation and sign-in do not depend on:
// `timeline/config.ts`, `http/config.ts` and `sign-in.ts` have the others. Their texts are the
// reference in docs/reference/configuration.md, and links are relative to it.

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
  RATE_LIMIT_COST: {
    schema: perMinute(20_000),
    unset: '`600000` in production, else `0`',
    reason:
      'The [cost](../explanation/architecture.md#the-cost-of-a-request) that a viewer, or an anonymous address, may use in a minute. 0: any',
    processes: 'own',
  },
  RATE_LIMIT_MUTATIONS: {
    schema: perMinute(1),
    unset: '`600` in production, else `0`',
    reason: 'Likewise the number of mutations, and of users of `createUsers` and `followUsers`',
    processes: 'own',
  },
  RATE_LIMIT_ACTING: {
    schema: wholeNumber(1, 1_000_000).default(100),
    reason:
      "How many viewers' limits a token with the scope `act-for` may use [for all its users](../how-to/sign-in.md#servers-that-act-for-users)",
    processes: 'own',
  },
  RATE_LIMIT_STORE: {
    schema: oneOf(['memory', 'mongodb']).default('memory'),
    reason:
      '`mongodb`: all servers with this value count together, with one command more for each request',
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
    unset: 'an embedded MongoDB; required in production',
    reason:
      'Your replica set or sharded cluster. Processes with other databases share nothing. `embedded` lets production run on an [embedded MongoDB](../how-to/operations.md#the-embedded-mongodb), which has no authentication',
    processes: 'own',
  },
  MONGODB_DATABASE: {
    schema: databaseName.optional(),
    unset: 'the path of `MONGODB_URI`, else `feedline`',
    reason: 'Names [the database](../how-to/operations.md#the-database)',
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

export const limitsOfData = {
  OVERFLOW_THRESHOLD: {
    schema: wholeNumber(1, 10_000).default(thresholdDefault),
    reason:
      'How many likes, and how many shares, a post holds itself before they overflow; of comments a fifth. Lists of every size are read',
    processes: 'own',
  },
} as const satisfies Variables

export const content = {
  RESERVED_HANDLES: {
    schema: commaList.default([...reservedHandles]),
    reason: '[Handles and names](names.md) that no new account may take; `,` for none',
    processes: 'own',
  },
  HANDLE_RESERVED_DAYS: {
    schema: decimal(0, 3_650).default(30),
    reason: 'How long a handle that was changed stays with its account. Then others may take it',
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
