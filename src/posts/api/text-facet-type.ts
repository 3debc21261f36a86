import { Field, Int, ObjectType, registerEnumType } from 'type-graphql'
import { User } from '../../users/api/user-type.ts'
import { type Facet, facetsMax } from '../facets.ts'

/** The description of the field with the facets of a post or entry. */
export const facetsDescription = (noun: string): string =>
  `The mentions, hashtags and links in the text of the ${noun}, in its order, at most ${facetsMax}.`

const FacetKindEnum = { MENTION: 'MENTION', HASHTAG: 'HASHTAG', LINK: 'LINK' } as const
registerEnumType(FacetKindEnum, {
  name: 'FacetKind',
  description: 'What a part of a text is.',
  valuesConfig: {
    MENTION: { description: 'An "@" with a handle.' },
    HASHTAG: { description: 'A "#" with a tag.' },
    LINK: { description: 'A URL, or a domain.' },
  },
})

@ObjectType({
  simpleResolvers: true,
  description:
    'A mention, hashtag or link in a text. The facets of a text are in its order and do not overlap.',
})
export class TextFacet implements Omit<Facet, 'account'> {
  @Field(() => Int, { description: 'The position of the first character, in Unicode code points.' })
  readonly start!: number

  @Field(() => Int, {
    description: 'The position after the last character, in Unicode code points.',
  })
  readonly end!: number

  @Field(() => FacetKindEnum, { description: 'What the part of the text is.' })
  readonly kind!: Facet['kind']

  @Field(() => User, {
    nullable: true,
    description:
      'The user who had the handle when the text was written, whatever the handle is now. Null for other facets, without such an account, or if a block hides the user.',
  })
  readonly user?: User | null

  @Field(() => String, {
    nullable: true,
    description: 'The mentioned handle as it was written, in lower case. Null for other facets.',
  })
  readonly handle!: string | null

  @Field(() => String, {
    nullable: true,
    description: 'The tag without its "#", as it was written. Null for other facets.',
  })
  readonly tag!: string | null

  @Field(() => String, {
    nullable: true,
    description: 'The http or https URL of the link. Null for other facets.',
  })
  readonly url!: string | null
}
