/**
 * The codec of cursors and global ids, which are opaque to clients. A tag names the type, so that a
 * cursor is never accepted as a global id.
 */
const charactersStandard = 512

/** @returns base64url text that {@link decodeOpaque} decodes to the same tag and parts. */
export const encodeOpaque = (tag: string, ...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([tag, ...parts])).toString('base64url')

/**
 * @param charactersMax longer texts are not decoded.
 * @returns the tag and parts of `text`, or undefined if {@link encodeOpaque} does not encode them
 *   to `text`.
 */
export function decodeOpaque(
  text: string,
  charactersMax = charactersStandard,
): { tag: string; parts: string[] } | undefined {
  if (text.length > charactersMax) return undefined
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || !value.every((part) => typeof part === 'string')) return undefined
  const [tag, ...parts] = value as string[]
  if (tag === undefined || encodeOpaque(tag, ...parts) !== text) return undefined
  return { tag, parts }
}
