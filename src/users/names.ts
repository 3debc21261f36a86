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
const spelling = new RegExp(
  String.raw`(?<=${joining})[\u200c\u200d](?=${joining})|(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|(?<=\p{Script=Mongolian})[\u180b-\u180d\u180f]`,
  'gu',
)

/** Also characters that Unicode counts as visible, but that show nothing: a braille blank, annotation marks. */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u

/** The most marks above and below one letter. Biblical Hebrew needs five. */
const marksMax = 5
const stackedMarks = new RegExp(String.raw`[\p{Mn}\p{Me}]{${marksMax + 1}}`, 'u')

/**
 * Why a text cannot be a display name, or undefined. Refuses characters that show nothing, because two names that look
 * the same would differ. Accepts them where a script or an emoji needs them.
 * @param name in Unicode NFC.
 */
export function nameProblem(name: string): string | undefined {
  const plain = name.replace(emoji, ' ').replace(spelling, '')
  if (invisible.test(plain)) return 'must not contain invisible characters'
  if (stackedMarks.test(plain)) return `must not have more than ${marksMax} marks on one letter`
  return undefined
}

/** The letters that look like each Latin letter or like a digit, in lower case. */
const lookAlikes: Readonly<Record<string, string>> = {
  a: 'аαɑ4@',
  b: 'ьƅ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еεє3',
  g: 'ɡց',
  h: 'һհ',
  i: 'іιıɩlӏ1|',
  j: 'јϳ',
  k: 'кκ',
  m: 'мμ',
  n: 'пηո',
  o: 'оοօ0',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕ5$',
  t: 'тτ',
  u: 'υսц',
  v: 'νѵ',
  w: 'ԝωш',
  x: 'хχ',
  y: 'уγү',
}
const latinOf = new Map(
  Object.entries(lookAlikes).flatMap(([latin, others]) => [...others].map((one) => [one, latin])),
)

/** The form in which names that look alike are equal. */
const foldName = (name: string): string =>
  [
    ...name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}@|$]/gu, ''),
  ]
    .map((letter) => latinOf.get(letter) ?? letter)
    .join('')

/** The names that no user may take, because others would believe that the user speaks for the service. */
export class ReservedNames {
  private readonly folded: ReadonlySet<string>

  constructor(words: readonly string[]) {
    this.folded = new Set(words.map(foldName).filter((folded) => folded !== ''))
  }

  /** Whether a handle or display name is reserved, or looks like a reserved name. */
  has(name: string): boolean {
    return this.folded.has(foldName(name))
  }
}
