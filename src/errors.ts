/**
 * Every code a client can meet, with the HTTP status of a request that fails as a whole and what it
 * means.
 */
export const errorCodes = {
  BAD_USER_INPUT: {
    status: 400,
    meaning:
      'Arguments are invalid. `argument` names the first, and `arguments` lists all with a message each. Nothing was changed.',
  },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document is not valid GraphQL.' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, meaning: 'The document does not match the schema.' },
  OPERATION_RESOLUTION_FAILURE: {
    status: 400,
    meaning: 'The document does not contain the requested operation.',
  },
  BAD_REQUEST: {
    status: 400,
    meaning: 'The HTTP request is not a GraphQL request, or another site could forge it.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 200,
    meaning: 'The server has no document with this hash. Send the document together with its hash.',
  },
  PERSISTED_QUERY_HASH_MISMATCH: {
    status: 400,
    meaning: 'The hash is not the SHA-256 of the document.',
  },
  PERSISTED_QUERY_NOT_IN_LIST: {
    status: 400,
    meaning: 'The document is not one of the trusted documents of this server.',
  },
  LIMIT_EXCEEDED: {
    status: 400,
    meaning: 'The document or the account exceeds a limit. `limit` names it. Nothing was changed.',
  },
  UNAUTHENTICATED: { status: 401, meaning: 'The request needs a valid token.' },
  FORBIDDEN: { status: 403, meaning: 'The viewer is not allowed to do this.' },
  NOT_FOUND: {
    status: 404,
    meaning: 'The requested object does not exist, or the viewer may not see it.',
  },
  CONFLICT: {
    status: 409,
    meaning:
      'The request conflicts with stored data, such as a taken handle or a clientMutationId used for another input.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The request body exceeds the size limit.' },
  RATE_LIMITED: {
    status: 429,
    meaning:
      'The client has used up its rate limit. Try again after `retryAfterSeconds`, as in the header Retry-After.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    meaning: 'The server failed. `requestId` identifies the failure in the server log.',
  },
  UNAVAILABLE: {
    status: 503,
    meaning:
      'The server is too busy, the database does not answer, or the request took too long. Try again after `retryAfterSeconds`. Repeat a mutation with the same clientMutationId.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>

export type ErrorCode = keyof typeof errorCodes

/** A wrong argument, and what is wrong with it. */
export interface WrongArgument {
  /** The path of the argument, e.g. `input.text`. */
  readonly argument: string
  readonly message: string
}

/** What an error tells beyond its message, all of it public but `cause`. */
export interface ErrorDetails {
  /** The path of the argument that was wrong, e.g. `input.text`. Of several, the first. */
  readonly argument?: string
  /** Of BAD_USER_INPUT: all wrong arguments. */
  readonly wrong?: readonly WrongArgument[]
  /** The limit that was exceeded, e.g. `depth` or `followees`. */
  readonly limit?: string
  /** Of RATE_LIMITED: when the client may try again. */
  readonly retryAfterSeconds?: number
  /** For the log alone. */
  readonly cause?: unknown
  /** Of a failure of the server: the log names it already, as often as it should. */
  readonly isLogged?: true
}

/** A failure that the client may read: `message` is public, `cause` is not. */
export class DomainError extends Error {
  override readonly name = 'DomainError'

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
  }
}

/**
 * The error of an item that is refused alone. @throws the error if it is a failure of the server.
 */
export function refusalOf(error: unknown): DomainError {
  if (error instanceof DomainError && errorCodes[error.code].status < 500) return error
  throw error
}

/** A BAD_USER_INPUT error for one argument. */
export const badInput = (argument: string, problem: string): DomainError =>
  badInputs([{ argument, message: problem }])

/** A BAD_USER_INPUT error for at least one argument. */
export function badInputs(wrong: readonly WrongArgument[]): DomainError {
  const message = wrong.map(({ argument, message }) => `${argument}: ${message}`).join('; ')
  const [first] = wrong
  return new DomainError('BAD_USER_INPUT', message, {
    ...(first && { argument: first.argument }),
    wrong,
  })
}

/**
 * Evaluates a check of each item, in order.
 * @returns the results.
 * @throws {DomainError} BAD_USER_INPUT with the wrong arguments of all checks. Any other error of a
 *   check, at once.
 */
export function checkEach<Item, Result>(
  items: readonly Item[],
  check: (item: Item, at: number) => Result,
): Result[] {
  const wrong: WrongArgument[] = []
  const results = items.flatMap((item, at) => {
    try {
      return [check(item, at)]
    } catch (error) {
      wrong.push(...wrongArgumentsOf(error))
      return []
    }
  })
  if (wrong.length > 0) throw badInputs(wrong)
  return results
}

/** Checks of arguments, each under the name of its result. */
export type Checks = Readonly<Record<string, () => unknown>>
export type ResultsOf<Of extends Checks> = { readonly [Name in keyof Of]: ReturnType<Of[Name]> }

/** As {@link checkEach}, for different checks. */
export const checkAll = <Of extends Checks>(checks: Of): ResultsOf<Of> =>
  Object.fromEntries(
    checkEach(Object.entries(checks), ([name, check]) => [name, check()]),
  ) as ResultsOf<Of>

/** The arguments that an error names. @throws the error unless it is BAD_USER_INPUT. */
export function wrongArgumentsOf(error: unknown): readonly WrongArgument[] {
  if (error instanceof DomainError && error.details.wrong) return error.details.wrong
  throw error
}
