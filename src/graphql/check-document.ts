import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Lexer,
  OverlappingFieldsCanBeMergedRule,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  type ValidationRule,
  validate,
} from 'graphql'
import type { ErrorCode } from '../errors.ts'
import { findExceededLimit } from './document-size.ts'
import { limitError, limits } from './limits.ts'
import { findConflict } from './merged-fields.ts'

/** The most errors of a document that an answer lists. */
const errorsMax = 20

/** How many tokens, and how many characters, of a document cost one unit. */
const [tokensPerPrice, charactersPerPrice] = [4, 500]

/** A text whose tokens were read. */
export interface ReadTokens {
  /** The cost of checking the text: one unit for each four tokens, and for each 500 characters. */
  readonly price: number
  /** Why the text is refused before it is parsed. */
  readonly error: GraphQLError | undefined
}

/** Reads the tokens of a text, up to the limit. A millisecond at most. */
export function readTokens(text: string): ReadTokens {
  const lexer = new Lexer(new Source(text))
  let tokens = 0
  const read = (error?: GraphQLError): ReadTokens => {
    const price = Math.ceil(tokens / tokensPerPrice + text.length / charactersPerPrice)
    return { price, error }
  }
  try {
    for (;;) {
      const { kind, start, end } = lexer.advance()
      if (kind === TokenKind.EOF) return read()
      tokens++
      if (tokens > limits.tokens) return read(limitError('tokens'))
      if (kind === TokenKind.NAME && end - start > limits.name)
        return read(
          limitError(
            'name',
            `The document exceeds the limit of ${limits.name} characters of a name`,
          ),
        )
    }
  } catch (error) {
    return read(withCode(error as GraphQLError, 'GRAPHQL_PARSE_FAILED'))
  }
}

const noIntrospection: ValidationRule = (context) => ({
  Field: (node) => {
    if (!['__schema', '__type'].includes(node.name.value)) return
    context.reportError(
      new GraphQLError('Introspection is disabled on this server', { nodes: node }),
    )
  },
})

const standardRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule)

/**
 * Parses and validates a text whose tokens were read, by the schema and the limits of documents.
 * Its time is proportional to the tokens, and to the selections after fragments are expanded, both
 * of which are limited.
 * @returns the document, or one to 20 errors. An error has its code.
 */
export function checkDocument(
  schema: GraphQLSchema,
  text: string,
  { introspection }: { readonly introspection: boolean },
): DocumentNode | readonly GraphQLError[] {
  let document: DocumentNode
  try {
    document = parse(text)
  } catch (error) {
    return [
      error instanceof GraphQLError
        ? withCode(error, 'GRAPHQL_PARSE_FAILED')
        : limitError('depth', 'The values are nested too deeply'),
    ]
  }
  if (document.definitions.some(isSubscription)) return [noSubscriptions()]
  const exceeded = findExceededLimit(document)
  if (exceeded) return [exceeded]
  const rules = introspection ? standardRules : [...standardRules, noIntrospection]
  const options = { maxErrors: errorsMax, hideSuggestions: true }
  const errors = validate(schema, document, rules, options).slice(0, errorsMax)
  const conflict = errors.length === 0 ? findConflict(schema, document) : undefined
  const all = conflict ? [conflict] : errors
  return all.length === 0
    ? document
    : all.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'))
}

const withCode = ({ message, nodes, source, positions }: GraphQLError, code: ErrorCode) =>
  new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    extensions: { code },
  })

const isSubscription = (node: DocumentNode['definitions'][number]): boolean =>
  node.kind === 'OperationDefinition' && node.operation === 'subscription'

/**
 * The only error of its document. Others would say how to change it, but the schema has no type for
 * it.
 */
const noSubscriptions = () =>
  new GraphQLError('This server has no subscriptions: poll the query timelineNews instead', {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED' satisfies ErrorCode },
  })
