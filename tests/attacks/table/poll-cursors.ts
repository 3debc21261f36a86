import type { PostId } from '../../../src/lib/ids.ts'
import { encodeOpaque } from '../../../src/lib/opaque.ts'
import { pollCursors } from '../../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../../src/timeline/pages/poll-cursor.ts'
import { type Attack, documentAttack } from '../attack.ts'

const id = '6'.repeat(24)

/** Poll cursors with one wrong part, or with too many. */
export const wrongPollCursors: readonly string[] = [
  ['Poll'],
  ['Poll', 'x', id, '0', '0'.repeat(16), '', '', ''],
  ['Poll', id, id, '1e333', '0'.repeat(16), '', '', ''],
  ['Poll', id, id, '201', '0'.repeat(16), '', '', ''],
  ['Poll', id, id, '0', '__proto__', '', '', ''],
  ['Poll', id, id, '0', '0'.repeat(16), '', '', 'x'],
  ['Poll', id, id, '0', '0'.repeat(16), '', 'constructor', ''],
  ['Poll', id, id, '0', '0'.repeat(16), '', '', 'A'.repeat(16 * 101)],
  ['Poll', id, id, '0', '0'.repeat(16), '', '', '', ''],
].map(([tag = '', ...parts]) => encodeOpaque(tag, ...parts))

/** Poll cursors at the ends of all ids are compared, and never an error. */
export const pollEnds = (places: readonly string[]): readonly Attack[] =>
  places.flatMap((place) => {
    const recent = [place, id] as PostId[]
    const cursor = { ...startingAt(place as PostId), settled: 200, recent, next: place as PostId }
    const v = pollCursors.encode(cursor)
    return [
      'query ($v: String!) { timelineNews(since: $v) { count changed pollCursor } }',
      'query ($v: String!) { timeline(last: 100, before: $v) { pollCursor pageInfo { hasNextPage } } }',
    ].map((query) =>
      documentAttack(`${query}: ${place}`, query, { answer: '200 OK', commandsMax: 12 }, { v }),
    )
  })
