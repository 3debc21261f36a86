import { Field, ID, InputType, Int, ObjectType } from 'type-graphql'
import { givenLeaves, valuesOf } from '../../entities/leaves.ts'
import { postLeaves } from '../../entities/post.ts'
import {
  ChangePayload,
  MutationInput,
  orNull,
  Payload,
  viewerOptions,
} from '../../graphql/mutation-types.ts'
import { addLeaves } from '../../graphql/types/leaf.ts'
import { TimelineEdge } from '../../timeline/api/timeline-types.ts'
import { Viewer } from '../../users/api/viewer-type.ts'
import type { GivenContent } from '../content.ts'
import { type AttachmentKind, AttachmentKindEnum, Post } from './post-type.ts'

@InputType({ description: 'An attachment of a new post.' })
export class AttachmentInput {
  @Field(() => String, { description: 'An http or https URL of at most 2,048 characters.' })
  readonly url!: string

  @Field(() => AttachmentKindEnum, { description: 'The kind of content at the URL.' })
  readonly kind!: AttachmentKind

  @Field(() => String, {
    nullable: true,
    description: 'Alternative text of the attachment, at most 2,000 characters.',
  })
  readonly alt?: string | null

  @Field(() => Int, {
    nullable: true,
    description: 'The width of the image or video in pixels, 1 to 65,535.',
  })
  readonly width?: number | null

  @Field(() => Int, {
    nullable: true,
    description: 'The height of the image or video in pixels, 1 to 65,535.',
  })
  readonly height?: number | null

  @Field(() => String, {
    nullable: true,
    description:
      'The BlurHash of the image or video, 6 to 166 characters, for a preview while it loads.',
  })
  readonly blurhash?: string | null
}

/** The fields of a base come first, and errors name arguments in the order of the fields. */
@InputType()
class PostLeavesInput extends MutationInput {}
addLeaves(
  PostLeavesInput,
  givenLeaves(postLeaves).map(([name, row]) => [
    name,
    { ...row, description: `${row.description}.` },
  ]),
)

@InputType({ description: 'Input of createPost.' })
export class CreatePostInput extends PostLeavesInput {
  @Field(() => [AttachmentInput], {
    nullable: true,
    description: 'The attachments of the post, at most four.',
  })
  readonly attachments?: readonly AttachmentInput[] | null
}

/** The content in the input of createPost. */
export const contentOf = (input: CreatePostInput): GivenContent => ({
  ...valuesOf(postLeaves, input),
  attachments: input.attachments ?? [],
})

/** The base of the inputs of mutations on a post. */
@InputType()
export class PostInput extends MutationInput {
  @Field(() => ID, { description: 'The global id of the post.' })
  readonly postId!: string
}

@InputType({ description: 'Input of deletePost.' })
export class DeletePostInput extends PostInput {}

@ObjectType({ simpleResolvers: true, description: 'Result of createPost.' })
export class CreatePostPayload extends Payload {
  @Field(() => Post, { nullable: true, description: `The new post. ${orNull('post')}` })
  readonly post!: Post | null

  @Field(() => TimelineEdge, {
    nullable: true,
    description: `The edge of the new post in the viewer's home timeline, so that a client can insert it there. Its place is the first, unless others posted at the same time. ${orNull('post')}`,
  })
  readonly timelineEdge!: TimelineEdge | null

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}

@ObjectType({ simpleResolvers: true, description: 'Result of deletePost.' })
export class DeletePostPayload extends ChangePayload {
  @Field(() => ID, { description: 'The global id of the deleted post.' })
  readonly deletedPostId!: string

  @Field(() => Viewer, viewerOptions)
  readonly viewer!: Viewer
}
