import { GraphQLError } from 'graphql'

/** The limits of a request. Each is checked before execution. */
export const limits = {
  /** Nested fields. A Relay page of posts with their authors' followers needs eight. */
  depth: 12,
  aliases: 30,
  directives: 30,
  tokens: 2000,
  /**
   * Characters of a name. A response repeats an alias for each item, and errors repeat other names.
   */
  name: 128,
  /** Fields and fragments of an operation after fragments are expanded. */
  selections: 2000,
  /** The cost of an operation, see `prices.ts`. */
  cost: 20_000,
  bodyBytes: 100_000,
} as const

/** The error that names an exceeded limit. */
export const limitError = (
  limit: keyof typeof limits,
  message = `The document exceeds the limit of ${limits[limit]} ${limit}`,
): GraphQLError =>
  new GraphQLError(message, {
    extensions: { code: 'LIMIT_EXCEEDED', limit, http: { status: 400 } },
  })
