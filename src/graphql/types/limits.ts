import { Field, Int, ObjectType } from 'type-graphql'
import { bioRules } from '../../entities/account.ts'
import { textRules } from '../../entities/post.ts'
import { groupNameRules, groupsPerEdgeMax, groupsPerUserMax } from '../../follows/groups.ts'
import { pageSizeMax } from '../../lib/page.ts'
import { urlLengthMax } from '../../lib/url.ts'
import { blurhashLengthMax } from '../../posts/blurhash.ts'
import { altRules, attachmentsMax, pixelsMax } from '../../posts/content.ts'
import { facetsMax } from '../../posts/facets.ts'
import { newsMax } from '../../timeline/pages/news.ts'
import { nameRules } from '../../users/profile.ts'
import { pageSizeDefault } from '../connection.ts'
import { limits } from '../limits.ts'
import { idLengthMax } from '../mutate.ts'
import { usersMax } from '../mutation-types.ts'

/** A limit: the constant that enforces it, and what it limits. */
type Limit = readonly [value: number, what: string]

const table: Readonly<Record<string, Limit>> = {
  postTextLengthMax: [textRules.graphemesMax, 'characters of the text of a post'],
  postTextBytesMax: [textRules.bytesMax, 'UTF-8 bytes of the text of a post'],
  commentTextLengthMax: [textRules.graphemesMax, 'characters of the text of a comment'],
  commentTextBytesMax: [textRules.bytesMax, 'UTF-8 bytes of the text of a comment'],
  attachmentsMax: [attachmentsMax, 'attachments of a post'],
  altLengthMax: [altRules.graphemesMax, 'characters of an alternative text'],
  altBytesMax: [altRules.bytesMax, 'UTF-8 bytes of an alternative text'],
  urlLengthMax: [urlLengthMax, 'characters of a URL'],
  attachmentPixelsMax: [pixelsMax, 'pixels of an attachment in one direction'],
  blurhashLengthMax: [blurhashLengthMax, 'characters of a BlurHash'],
  facetsMax: [facetsMax, 'facets of a text'],
  nameLengthMax: [nameRules.graphemesMax, 'characters of a display name'],
  nameBytesMax: [nameRules.bytesMax, 'UTF-8 bytes of a display name'],
  bioLengthMax: [bioRules.graphemesMax, 'characters of a bio'],
  bioBytesMax: [bioRules.bytesMax, 'UTF-8 bytes of a bio'],
  groupsMax: [groupsPerUserMax, 'groups of a user'],
  groupsPerFolloweeMax: [groupsPerEdgeMax, 'groups that contain one followee'],
  groupNameLengthMax: [groupNameRules.graphemesMax, 'characters of the name of a group'],
  groupNameBytesMax: [groupNameRules.bytesMax, 'UTF-8 bytes of the name of a group'],
  usersMax: [usersMax, 'users of createUsers and followUsers'],
  pageSizeMax: [pageSizeMax, 'items of a page, and ids of nodes'],
  newsCountMax: [newsMax, 'new posts that timelineNews counts'],
  clientMutationIdLengthMax: [idLengthMax, 'UTF-16 code units of a clientMutationId'],
  documentDepthMax: [limits.depth, 'levels of nested fields of a document'],
  documentAliasesMax: [limits.aliases, 'aliases of a document'],
  documentDirectivesMax: [limits.directives, 'directives of a document'],
  documentTokensMax: [limits.tokens, 'tokens of a document'],
  documentNameLengthMax: [limits.name, 'characters of a name in a document'],
  documentSelectionsMax: [limits.selections, 'fields of an operation with fragments expanded'],
  operationCostMax: [limits.cost, 'cost of an operation, as in `extensions.cost`'],
  bodyBytesMax: [limits.bodyBytes, 'bytes of the body of a request'],
}

@ObjectType({
  simpleResolvers: true,
  description:
    'The limits of this server. A character is what a reader sees as one, such as a letter with its accents or an emoji.',
})
export class Limits {
  @Field(() => Int, { description: 'Number of items of a page without first and last.' })
  readonly pageSizeDefault!: number
}

for (const [name, [, what]] of Object.entries(table)) {
  Field(() => Int, { description: `The most ${what}.` })(Limits.prototype, name)
}

/** The values of {@link Limits}. */
export const limitValues: Readonly<Record<string, number>> = {
  pageSizeDefault,
  ...Object.fromEntries(Object.entries(table).map(([name, [value]]) => [name, value])),
}
