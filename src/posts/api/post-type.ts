import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql'
import { kinds, publicKinds } from '../../engagement/kinds.ts'
import { postLeaves } from '../../entities/post.ts'
import { countedConnectionOf, edgeOf, Node } from '../../graphql/types/common.ts'
import { GraphQLDateTime } from '../../graphql/types/date-time.ts'
import { addLeaves } from '../../graphql/types/leaf.ts'
import type { PostRef } from '../../lib/ids.ts'
import { User } from '../../users/api/user-type.ts'
import { facetsDescription, TextFacet } from './text-facet-type.ts'

export const AttachmentKindEnum = { IMAGE: 'IMAGE', VIDEO: 'VIDEO', LINK: 'LINK' } as const
export type AttachmentKind = keyof typeof AttachmentKindEnum
registerEnumType(AttachmentKindEnum, {
  name: 'AttachmentKind',
  description: 'The kind of content at the URL of an attachment.',
  valuesConfig: {
    IMAGE: { description: 'An image.' },
    VIDEO: { description: 'A video.' },
    LINK: { description: 'A web page.' },
  },
})

@ObjectType({ simpleResolvers: true, description: 'An attachment of a post.' })
export class Attachment {
  @Field(() => String, { description: 'The http or https URL of the attachment.' })
  readonly url!: string

  @Field(() => AttachmentKindEnum, { description: 'The kind of content at the URL.' })
  readonly kind!: AttachmentKind

  @Field(() => String, { nullable: true, description: 'Alternative text of the attachment.' })
  readonly alt?: string | null

  @Field(() => Int, { nullable: true, description: 'The width in pixels, if its author gave it.' })
  readonly width?: number | null

  @Field(() => Int, { nullable: true, description: 'The height in pixels, if its author gave it.' })
  readonly height?: number | null

  @Field(() => String, {
    nullable: true,
    description: 'The BlurHash, from which a client draws a preview while the attachment loads.',
  })
  readonly blurhash?: string | null
}

@ObjectType({ simpleResolvers: true, implements: Node, description: 'A post of a user.' })
export class Post extends Node {
  @Field(() => ID, { description: 'The global id of the post.' })
  override readonly id!: string

  @Field(() => User, { description: 'The author of the post.' })
  readonly author!: User

  @Field(() => [TextFacet], { description: facetsDescription('post') })
  readonly facets!: readonly TextFacet[]

  @Field(() => [Attachment], { description: 'The attachments of the post, at most four.' })
  readonly attachments!: readonly Attachment[]

  @Field(() => GraphQLDateTime, {
    description: 'When the post was created, with millisecond precision.',
  })
  readonly createdAt!: Date

  @Field(() => Boolean, {
    description: 'Whether the viewer may delete the post. False for an anonymous request.',
  })
  readonly viewerCanDelete!: boolean

  /** The reference by which the post's lists are read. Not in the schema. */
  readonly ref!: PostRef
}

addLeaves(Post, Object.entries(postLeaves))
for (const kind of publicKinds) {
  const { field, description } = kinds[kind].public.count
  Field(() => Int, { description })(Post.prototype, field)
}
for (const { viewer } of Object.values(kinds)) {
  if (viewer)
    Field(() => Boolean, { description: viewer.description })(Post.prototype, viewer.field)
}

@ObjectType({ simpleResolvers: true, description: 'A post in a list.' })
export class PostEdge extends edgeOf(() => Post, 'The post') {}

@ObjectType({ simpleResolvers: true, description: "A page of an author's posts." })
export class PostConnection extends countedConnectionOf(
  () => PostEdge,
  'Number of all posts of the author. Null if a block hides the profile.',
) {}
