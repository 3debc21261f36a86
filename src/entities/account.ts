import type { TextRules } from '../lib/text.ts'
import { checkText, checkUrl, type Fact, type Leaf } from './leaves.ts'

/** The rules of a bio. */
export const bioRules: TextRules = { form: 'lines', graphemesMax: 256, bytesMax: 2560 }

const urlRule = 'an http or https URL of at most 2,048 characters'

/**
 * The fields of a profile that an account may lack: one row each. Documents, checks, inputs, the
 * schema, prices and both renderers derive from a row. A block hides them.
 */
export const profileLeaves = {
  bio: {
    type: 'text',
    description:
      'A short text about the user, at most 256 characters. Null if a block hides the profile.',
    given: {
      description: 'A short text about the user, at most 256 characters',
      check: (argument, bio) => checkText(argument, bio.trim(), bioRules),
    },
  },
  avatarUrl: {
    type: 'text',
    description:
      'The http or https URL of the picture of the user. Null without one, or if a block hides the profile.',
    given: { description: `The picture of the user, ${urlRule}`, check: checkUrl },
  },
  bannerUrl: {
    type: 'text',
    description:
      'The http or https URL of the wide picture above the profile. Null without one, or if a block hides the profile.',
    given: { description: `The wide picture above the profile, ${urlRule}`, check: checkUrl },
  },
} as const satisfies Readonly<Record<string, Leaf>>

/**
 * What rules of visibility know of a live account beyond its id: one row each. It is stored beside
 * the counters. With a row, reads of accounts are no longer covered.
 */
export const accountFacts = {} as const satisfies Readonly<Record<string, Fact>>
