/**
 * The one codec for what clients carry but must not read: cursors and node ids.
 * A tag names what it is, so that a cursor is never taken for a node id.
 */
const charactersMax = 512

/** @returns base64url text that {@link decodeOpaque} turns back into `parts` under the same tag. */
export const encodeOpaque = (tag: string, ...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([tag, ...parts])).toString('base64url')

/** @returns the tag and parts that `text` carries, or undefined when it was not made by {@link encodeOpaque}. */
export function decodeOpaque(text: string): { tag: string; parts: string[] } | undefined {
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
