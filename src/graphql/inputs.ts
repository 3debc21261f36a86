import { Field, ID, InputType } from 'type-graphql'
import { handleRule } from '../lib/ids.ts'
import { type AttachmentKind, AttachmentKindEnum } from './types/post.ts'

@InputType()
export abstract class MutationInput {
  @Field(() => String, {
    nullable: true,
    description:
      'Yours to choose, at most 128 characters. The same one again within a day does nothing and returns the first result.',
  })
  readonly clientMutationId?: string | null
}

@InputType({ description: 'Opens the account of whoever is signed in.' })
export class CreateUserInput extends MutationInput {
  @Field(() => String, { description: 'The name to go by, 1 to 64 characters.' })
  readonly name!: string

  @Field(() => String, { nullable: true, description: 'A few words, at most 256 characters.' })
  readonly bio?: string | null
}

@InputType({ description: "Changes the viewer's profile; what is absent stays." })
export class UpdateUserInput extends MutationInput {
  @Field(() => String, { nullable: true, description: 'The name to go by, 1 to 64 characters.' })
  readonly name?: string | null

  @Field(() => String, { nullable: true, description: 'At most 256 characters; null removes it.' })
  readonly bio?: string | null
}

@InputType({ description: "Removes the viewer's account, edges and posts." })
export class DeleteUserInput extends MutationInput {}

@InputType({ description: 'Names the user whom the mutation is about.' })
export class UserInput extends MutationInput {
  @Field(() => String, { description: `The user's handle: ${handleRule}.` })
  readonly handle!: string
}

@InputType({ description: 'Puts a followee into exactly these groups.' })
export class SetFollowGroupsInput extends UserInput {
  @Field(() => [String], {
    description: 'At most ten names of at most 64 characters. None takes the followee out of all.',
  })
  readonly groups!: readonly string[]
}

@InputType({ description: 'Something to show with a post.' })
export class AttachmentInput {
  @Field(() => String, { description: 'An http or https URL of at most 2,048 characters.' })
  readonly url!: string

  @Field(() => AttachmentKindEnum, { description: 'What stands there.' })
  readonly kind!: AttachmentKind

  @Field(() => String, {
    nullable: true,
    description: 'What it shows, in at most 1,000 characters.',
  })
  readonly alt?: string | null
}

@InputType({ description: 'Publishes a post.' })
export class CreatePostInput extends MutationInput {
  @Field(() => String, {
    description: 'At most 300 characters and 3,000 bytes. May be empty beside an attachment.',
  })
  readonly text!: string

  @Field(() => [AttachmentInput], { nullable: true, description: 'At most four.' })
  readonly attachments?: readonly AttachmentInput[] | null
}

@InputType({ description: "Removes a post of the viewer's own." })
export class DeletePostInput extends MutationInput {
  @Field(() => ID, { description: 'The id of the post.' })
  readonly postId!: string
}

@InputType({ description: 'Names the post that the mutation is about.' })
export class PostInput extends MutationInput {
  @Field(() => ID, { description: 'The id of the post.' })
  readonly postId!: string
}

@InputType({ description: 'Says something about a post.' })
export class AddCommentInput extends PostInput {
  @Field(() => String, { description: 'At most 300 characters and 3,000 bytes.' })
  readonly text!: string
}

@InputType({ description: 'Removes a comment.' })
export class DeleteCommentInput extends MutationInput {
  @Field(() => ID, { description: 'The id of the comment.' })
  readonly commentId!: string
}
