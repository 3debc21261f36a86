import { lookAlikeForms } from './look-alikes.ts'
import { isTechnicalName } from './technical-names.ts'

/** An emoji, which a skin tone or a choice of presentation may follow. */
const pictograph = String.raw`\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0e\ufe0f]?`
/** Emoji with their invisible joiners, variation selectors and tags. */
const emojiForms = [
  String.raw`\p{RGI_Emoji}`,
  String.raw`\p{Emoji}[\ufe0e\ufe0f]`,
  String.raw`${pictograph}(?:\u200d${pictograph})+`,
]
const emoji = new RegExp(emojiForms.join('|'), 'gv')

/** The scripts that spell words with the joiner or the non-joiner. */
const joiningScripts = [
  ...['Arabic', 'Syriac', 'Mongolian', 'Nko', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar'],
]
const joining = `[${joiningScripts.map((script) => String.raw`\p{Script=${script}}`).join('')}]`
/**
 * The sign of each Indic script that removes a vowel. A joiner after it forms a letter, also at the
 * end of a word.
 */
const virama = '[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]'
/** A letter, since the script counts its selectors and its vowel separator too. */
const mongolian = String.raw`(?=\p{Script=Mongolian})\p{L}`
const spellings = [
  String.raw`(?<=${joining})[\u200c\u200d](?=${joining})`,
  String.raw`(?<=(?=${joining})\p{L}\p{M}*${virama})[\u200c\u200d](?!\p{M})`,
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=${mongolian})[\u180b-\u180d\u180f]`,
  String.raw`(?<=${mongolian}[\u180b-\u180d\u180f]?)\u180e(?=${mongolian})`,
]
const spelling = new RegExp(spellings.join('|'), 'gu')

/**
 * Also characters that Unicode counts as visible, but that show nothing: a braille blank,
 * annotation marks.
 */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/**
 * Letters and digits, also those of scripts that Unicode counts as symbols, such as Braille, and
 * emoji.
 */
const legibleForms = [
  String.raw`[\p{L}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}]`,
  String.raw`[\p{So}--\p{Script=Common}]`,
  String.raw`\p{RGI_Emoji}`,
]
const legible = new RegExp(legibleForms.join('|'), 'v')

/** The most marks above and below one letter. Biblical Hebrew needs five. */
const marksMax = 5
const stackedMarks = new RegExp(String.raw`[\p{Mn}\p{Me}]{${marksMax + 1}}`, 'u')

/**
 * Why a text cannot be a display name, or undefined. Refuses characters that show nothing, because
 * two names that look the same would differ, but accepts them where a script or an emoji needs
 * them. Refuses names of punctuation alone.
 * @param name in Unicode NFC.
 */
export function nameProblem(name: string): string | undefined {
  const plain = name.replace(emoji, ' ').replace(spelling, '')
  if (invisible.test(plain)) return 'must not contain invisible characters'
  if (name.trim() !== '' && !legible.test(name)) return 'must contain a letter, a digit or an emoji'
  if (stackedMarks.test(plain)) return `must not have more than ${marksMax} marks on one letter`
  return undefined
}

/**
 * The names that no user may take: others would believe that the user speaks for the service, or is
 * a part of it.
 */
export class ReservedNames {
  private readonly folded: ReadonlySet<string>

  constructor(words: readonly string[]) {
    this.folded = new Set(words.flatMap(lookAlikeForms).filter((form) => form !== ''))
  }

  /** Whether a display name is reserved, or looks like a reserved name. */
  has(name: string): boolean {
    return lookAlikeForms(name).some((form) => this.folded.has(form))
  }

  /** Whether a handle is reserved: as a name, or because it means no person. */
  hasHandle(handle: string): boolean {
    return isTechnicalName(handle) || this.has(handle)
  }
}
