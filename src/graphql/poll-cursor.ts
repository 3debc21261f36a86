import { badInput } from '../errors.ts'
import { coveredMax, type PollCursor, recentMax } from '../feed/timeline/poll-cursor.ts'
import { type PostId, parseTimeId } from '../lib/ids.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'

const tag = 'Poll'
const isOutdated = 'outdated'
/** The bytes of an id. */
const idBytes = 12
/** A cursor with {@link recentMax} ids has 2,350 characters. */
const charactersMax = 2_500

/** Encodes what a poller holds as text for clients. 190 characters, and 22 for each recent post. */
export const encodePollCursor = (cursor: PollCursor): string =>
  encodeOpaque(
    tag,
    cursor.floor,
    cursor.watermark,
    String(cursor.settled),
    cursor.digest,
    cursor.next ?? '',
    cursor.outdated ? isOutdated : '',
    Buffer.from(cursor.recent.join(''), 'hex').toString('base64url'),
  )

/** @returns undefined if `text` is not a poll cursor. */
export function decodePollCursor(text: string): PollCursor | undefined {
  const { tag: found, parts } = decodeOpaque(text, charactersMax) ?? { tag: '', parts: [] }
  if (found !== tag || parts.length !== 7) return undefined
  const [floor, watermark, counted, digest, next, outdated, listed] = parts as Parts
  const cursor = {
    floor: parseTimeId<PostId>(floor),
    watermark: parseTimeId<PostId>(watermark),
    next: next === '' ? undefined : parseTimeId<PostId>(next),
    settled: Number(counted),
  }
  const bytes = Buffer.from(listed, 'base64url')
  const isValid =
    cursor.floor !== undefined &&
    cursor.watermark !== undefined &&
    (next === '' || cursor.next !== undefined) &&
    /^\d{1,3}$/.test(counted) &&
    cursor.settled <= coveredMax &&
    /^[0-9a-f]{16}$/.test(digest) &&
    (outdated === '' || outdated === isOutdated) &&
    bytes.toString('base64url') === listed &&
    bytes.length % idBytes === 0 &&
    bytes.length <= recentMax * idBytes
  if (!isValid) return undefined
  return {
    ...cursor,
    digest,
    outdated: outdated === isOutdated,
    recent: idsIn(bytes),
  } as PollCursor
}

/** @throws {DomainError} BAD_USER_INPUT if `text` is not a poll cursor. */
export function parsePollCursor(argument: string, text: string): PollCursor {
  const cursor = decodePollCursor(text)
  if (cursor === undefined) throw badInput(argument, 'is not a pollCursor of this server')
  return cursor
}

type Parts = [string, string, string, string, string, string, string]

const idsIn = (bytes: Buffer) =>
  Array.from(
    { length: bytes.length / idBytes },
    (_, at) => bytes.toString('hex', at * idBytes, (at + 1) * idBytes) as PostId,
  )
