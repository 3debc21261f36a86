/** The scripts of Unicode, by their names in regular expressions. */
const names =
  `Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki
Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian
Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs
Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema
Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inscriptional_Pahlavi
Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki
Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic
Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao
Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu
Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian
Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa
Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian
Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil
Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho
Warang_Citi Yezidi Yi Zanabazar_Square`.split(/\s+/)

/** The letters, marks and digits of one script, at most some hundred of each. */
export interface Script {
  readonly name: string
  readonly letters: readonly string[]
  readonly others: readonly string[]
}

/** At most 200 of them, from begin to end. */
function spread(points: readonly string[]): string[] {
  const step = Math.ceil(points.length / 200)
  return points.filter((_, at) => at % step === 0)
}

const all = Array.from({ length: 0x2_0000 }, (_, point) =>
  point >= 0xd800 && point < 0xe000 ? '' : String.fromCodePoint(point),
)
const lettersOf = all.join('').match(/\p{L}/gu)?.join('') ?? ''
const othersOf =
  all
    .join('')
    .match(/[\p{M}\p{Nd}]/gu)
    ?.join('') ?? ''

/** All scripts that this version of Node knows and that have letters. */
export const scripts: readonly Script[] = names.flatMap((name) => {
  let pattern: RegExp
  try {
    pattern = new RegExp(`\\p{Script=${name}}`, 'gu')
  } catch {
    return []
  }
  const [letters, others] = [lettersOf, othersOf].map((one) => spread(one.match(pattern) ?? []))
  return letters && others && letters.length > 0 ? [{ name, letters, others }] : []
})
