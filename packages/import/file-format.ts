/** Formats that the first bytes identify, in hex. */
const signatures: readonly (readonly [string, string])[] = [
  ['504b0304', 'a ZIP archive, as .xlsx, .ods and downloads of accounts are'],
  ['d0cf11e0', 'a binary workbook of Excel'],
  ['28b52ffd', 'compressed by zstd. Only gzip is read'],
  ['425a68', 'compressed by bzip2. Only gzip is read'],
  ['fd377a585a', 'compressed by xz. Only gzip is read'],
  ['50415231', 'a Parquet file'],
  ['25504446', 'a PDF document'],
  ['7b5c727466', 'an RTF document'],
  ['53514c69746520666f726d6174', 'a database of SQLite'],
]

/** Formats that the first text identifies. The first that matches counts. */
const textFormats: readonly (readonly [RegExp, string])[] = [
  [/^\s*<(!doctype html|html)/i, 'HTML'],
  [/^\s*</, 'XML, as GraphML and GEXF are'],
  [/^\s*window\.YTD\./, 'a script of a Twitter archive'],
  [/^\s*[[{]/, 'JSON'],
  [/^(.*\n)*?\s*\*(network|vertices|arcs|edges)\b/i, 'a Pajek file'],
  [/^\s*(\w+ .*\n)*\s*graph\s*\[/i, 'GML'],
  [/^\s*((\/\/|#|\/\*).*\n\s*)*(strict\s+)?(di)?graph\b[^\n,;\t]*\{/i, 'a Graphviz file'],
  [/^\s*nodedef>/i, 'a GDF file'],
  [/^(?![#%])(.*\n)+?#\r?\n/, 'a TGF file'],
  [/^\s*dl\s+n\s*=/i, 'a UCINET file'],
  [/^(c\b.*\n)*p (edge|col|sp|max|asn|tw) \d+ \d+/i, 'a DIMACS file'],
  [/^(.*\n)*?\s*(insert into|create table|copy \S+ ?\(.*\) from stdin)\b/i, 'a dump of SQL'],
  [/^#domain,#severity\b/, 'a list of servers of Mastodon'],
  [
    /^"?account address\b/i,
    'a list of accounts of Mastodon: line 1 "Account address" names no column of followers',
  ],
]

/** Formats are looked for in this many bytes, and units of UTF-16. */
const headMax = 4_096

/**
 * What the first bytes of a file that holds no lines of text are, as "is …" continues. Undefined
 * for text.
 */
export function binaryFormat(bytes: Buffer, encoding: Encoding): string | undefined {
  const head = bytes.subarray(0, headMax)
  const hex = head.toString('hex')
  const format = signatures.find(([start]) => hex.startsWith(start))?.[1]
  if (format) return format
  return encoding === 'utf-8' && head.includes(0) ? 'a binary file' : undefined
}

/**
 * Which format other than separated lines a text has, as "is …" continues. Undefined for other
 * texts.
 */
export const textFormat = (text: string): string | undefined =>
  textFormats.find(([pattern]) => pattern.test(text.slice(0, headMax)))?.[1]

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/**
 * The encoding of a text: UTF-16 by its byte order mark or the zero byte of its first character,
 * else UTF-8.
 */
export function encodingOf([first, second]: Buffer): Encoding {
  if ((first === 0xff && second === 0xfe) || (first && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second)) return 'utf-16be'
  return 'utf-8'
}
