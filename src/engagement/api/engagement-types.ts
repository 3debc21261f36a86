import { Field, ID, ObjectType } from 'type-graphql'
import { connectionOf, countedConnectionOf, edgeOf, Node } from '../../graphql/types/common.ts'
import { GraphQLDateTime } from '../../graphql/types/date-time.ts'
import { Post } from '../../posts/api/post-type.ts'
import { facetsDescription, TextFacet } from '../../posts/api/text-facet-type.ts'
import { User } from '../../users/api/user-type.ts'
import { type EngagementKind, isPublic, type KindWithPosts, kinds, perKind } from '../kinds.ts'

/** The types of a kind: an entry, and the connection of a post's list. */
function typesOf(kind: EngagementKind) {
  const { noun, key, node, connection, hasText } = kinds[kind]

  @ObjectType(node.type, {
    simpleResolvers: true,
    implements: Node,
    description: node.description,
  })
  class EngagementNode extends Node {
    @Field(() => ID, { description: `The global id of the ${noun}.` })
    override readonly id!: string

    @Field(() => User, { nullable: true, description: node.user })
    readonly user!: User | null

    @Field(() => Post, { nullable: true, description: node.post })
    readonly post!: Post | null

    @Field(() => GraphQLDateTime, { description: node.createdAt })
    readonly createdAt!: Date
  }
  if (hasText) {
    const description = `The text of the ${noun}, at most 300 characters and 3,000 bytes, in Unicode NFC.`
    Field(() => String, { description })(EngagementNode.prototype, 'text')
    Field(() => [TextFacet], { description: facetsDescription(noun) })(
      EngagementNode.prototype,
      'facets',
    )
  }
  if (key === '_id') {
    const description = `Whether the viewer may delete the ${noun}: its author and the author of the post may. False for an anonymous request.`
    Field(() => Boolean, { description })(EngagementNode.prototype, 'viewerCanDelete')
  }

  @ObjectType(`${node.type}Edge`, { simpleResolvers: true, description: connection.edge })
  class EngagementEdge extends edgeOf(() => EngagementNode, `The ${noun}`) {}

  @ObjectType(`${node.type}Connection`, { simpleResolvers: true, description: connection.page })
  class EngagementConnection extends (isPublic(kind)
    ? countedConnectionOf(
        () => EngagementEdge,
        `Number of all ${kind} of the post, including those of users that a block hides.`,
      )
    : connectionOf(() => EngagementEdge)) {}

  return { node: EngagementNode, edge: EngagementEdge, connection: EngagementConnection }
}

/** The types of each kind. */
export const engagementTypes = perKind(typesOf)

/** The connection of the posts with an entry of a user. */
export function postsConnectionOf({ type, page, edge, at }: KindWithPosts) {
  @ObjectType(`${type}Edge`, { simpleResolvers: true, description: edge })
  class PostsEdge extends edgeOf(() => Post, 'The post') {}
  Field(() => GraphQLDateTime, { description: at.description })(PostsEdge.prototype, at.field)

  @ObjectType(`${type}Connection`, { simpleResolvers: true, description: page })
  class PostsConnection extends connectionOf(() => PostsEdge) {}
  return PostsConnection
}
