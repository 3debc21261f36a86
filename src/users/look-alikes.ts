import skeletons from 'unhomoglyph/data.json' with { type: 'json' }

/** The characters of UTS 39 that look alike, each with the one that stands for them. */
const prototypes: Readonly<Record<string, string | undefined>> = skeletons

/**
 * What else looks like a Latin letter: digits, small capitals, and letters that are used for their
 * looks.
 */
const more: Readonly<Record<string, string>> = {
  ...{
    a: '4@ᴀд',
    b: 'ƅʙ',
    d: 'ᴅ',
    e: '3ᴇꞓ',
    f: 'ꜰ',
    g: 'ɢ',
    h: 'ʜ',
    j: 'ᴊ',
    k: 'ĸᴋ',
    l: 'ʟ',
    m: 'ᴍʍ',
  },
  ...{ n: 'ɴпи', p: 'ᴘ', q: 'ꞯ', r: 'ʀя', s: '5$', t: '7ᴛ', u: 'ц', w: 'шω' },
}
const latin = new Map(
  Object.entries(more).flatMap(([letter, others]) => [...others].map((one) => [one, letter])),
)
/**
 * The first of 26 symbols that show a Latin letter each: in a black circle, in a black square, and
 * of flags.
 */
const symbols = [0x1f150, 0x1f170, 0x1f1e6]

const isLatin = (text: string): boolean => /^[a-z0-9]+$/i.test(text)
const withoutMarks = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '')

/** The Latin letters that a character looks like, or the character. */
function lookOf(character: string): string {
  const symbol = symbols.find((first) => {
    const place = (character.codePointAt(0) ?? 0) - first
    return place >= 0 && place < 26
  })
  if (symbol) return String.fromCodePoint((character.codePointAt(0) ?? 0) - symbol + 0x61)
  for (const form of [character, character.toLowerCase(), character.toUpperCase()]) {
    const prototype = withoutMarks(prototypes[form] ?? form)
    const look = latin.get(prototype) ?? latin.get(form) ?? prototype
    if (isLatin(look)) return look
  }
  return character
}

/**
 * The forms in which names that look alike are equal: the skeleton of UTS 39, in lower case,
 * letters and digits alone. They differ in how they read letters with a form of compatibility, and
 * symbols such as "@", or leave symbols out.
 */
export function lookAlikeForms(name: string): string[] {
  const characters = [...withoutMarks(name)]
  const letters = characters.filter((character) => /[\p{L}\p{N}]/u.test(character))
  const asWritten = [...name.normalize('NFC')].flatMap((character) =>
    isLatin(lookOf(character)) ? character : [...withoutMarks(character)],
  )
  return [characters, letters, asWritten].map((read) =>
    withoutMarks(read.map(lookOf).join(''))
      .replace(/[^\p{L}\p{N}]/gu, '')
      .toLowerCase()
      .replaceAll('l', 'i')
      .replaceAll('m', 'rn'),
  )
}
