import { GraphQLScalarType } from 'graphql'
import { GraphQLDateTimeISO } from 'graphql-scalars'

/**
 * The scalar of all timestamps. It writes the text itself, because a Date costs one more conversion
 * when it is sent.
 */
export const GraphQLDateTime = new GraphQLScalarType({
  ...GraphQLDateTimeISO.toConfig(),
  name: 'DateTime',
  description: 'A UTC timestamp in ISO 8601 format, such as 2007-12-03T10:15:30.000Z.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
})
