import { type PostId, parseTimeId } from '../../lib/ids.ts'
import { cursorCodec } from '../../pages/cursor.ts'
import { coveredMax, type PollCursor, recentMax } from '../pages/poll-cursor.ts'

const isOutdated = 'outdated'
/** The bytes of an id. */
const idBytes = 12

/** What a poller holds, as text for clients. 190 characters, and 22 for each recent post. */
export const pollCursors = cursorCodec<PollCursor>({
  tag: 'Poll',
  noun: 'pollCursor',
  // A cursor with as many ids as it lists at most has 2,350 characters.
  charactersMax: 2_500,
  toParts: (cursor) => [
    cursor.floor,
    cursor.watermark,
    String(cursor.settled),
    cursor.digest,
    cursor.next ?? '',
    cursor.outdated ? isOutdated : '',
    Buffer.from(cursor.recent.join(''), 'hex').toString('base64url'),
  ],
  fromParts: (parts) => (parts.length === 7 ? cursorIn(parts as unknown as Parts) : undefined),
})

function cursorIn([floor, watermark, counted, digest, next, outdated, listed]: Parts):
  | PollCursor
  | undefined {
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

type Parts = [string, string, string, string, string, string, string]

const idsIn = (bytes: Buffer) =>
  Array.from(
    { length: bytes.length / idBytes },
    (_, at) => bytes.toString('hex', at * idBytes, (at + 1) * idBytes) as PostId,
  )
