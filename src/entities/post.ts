import { count, list, object, type Shape, text } from '../db/shape.ts'
import type { TextRules } from '../lib/text.ts'
import { checkText, type Fact, type Leaf, type LeafType, type RequiredLeaf } from './leaves.ts'

/** The rules of the text of a post, and of a comment. */
export const textRules: TextRules = {
  form: 'lines',
  mayBeBlank: true,
  graphemesMax: 300,
  bytesMax: 3_000,
}

/** A leaf that rules of visibility may know. Then reads of existing posts are no longer covered. */
type FactLeaf = {
  [Type in LeafType]: Extract<Leaf, { readonly type: Type }> & {
    readonly fact?: Omit<Extract<Fact, { readonly type: Type }>, 'type'>
  }
}[LeafType]
/** The table of {@link postLeaves}. */
export type PostLeaves = Readonly<
  Record<string, FactLeaf | (RequiredLeaf & { readonly fact?: undefined })>
>

/**
 * The fields of a post whose values have no parts: one row each. Documents, checks, the input of
 * createPost, validators, the schema, prices, both renderers and what the log follows derive from a
 * row. A read of the content of a post with a malformed value finds no post.
 */
export const postLeaves = {
  text: {
    type: 'text',
    isRequired: true,
    description: 'The text of the post, at most 300 characters and 3,000 bytes, in Unicode NFC.',
    given: {
      description:
        'The text of the post, at most 300 characters and 3,000 bytes. It may be empty if the post has an attachment',
      check: (argument, given) => checkText(argument, given, textRules),
    },
  },
} as const satisfies PostLeaves

/** The facets of a text, also of that of an entry. */
export const facetsShape: Shape = list(
  object(
    { kind: { enum: ['MENTION', 'HASHTAG', 'LINK'] }, start: count, end: count },
    { account: text },
  ),
)

/** The fields of a post whose values have parts, with their shapes in documents. */
export const postParts = {
  facets: facetsShape,
  attachments: list(
    object(
      { url: text, kind: { enum: ['IMAGE', 'VIDEO', 'LINK'] } },
      { alt: text, width: count, height: count, blurhash: text },
    ),
  ),
} as const satisfies Readonly<Record<string, Shape>>
