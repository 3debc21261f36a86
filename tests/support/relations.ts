import { relationColumns } from '../../packages/import/relation-file.ts'

/** The base of the times in the rows below. */
export const base = Date.UTC(2015, 0, 1)

/** A CSV file of rows `a b T F M U L`; times are small numbers, 0 is never. */
export function csv(rows: readonly string[]): string {
  const line = (row: string) => {
    const [one, other, ...times] = row.split(' ')
    return [one, other, ...times.map((time) => (time === '0' ? 0 : base + Number(time)))].join(',')
  }
  return [relationColumns.join(','), ...rows.map(line)].join('\n')
}

/** One row of each kind. */
export const mixed = [
  'ann bob 0 0 5 0 5', // follows
  'ann cem 5 3 0 0 5', // from Facebook first
  'bob ann 0 0 5 9 0', // unfollowed
  'bob cem 4 0 12 9 12', // and followed again
  'cem ann 12 0 0 9 0', // followed-not-counted
  'cem bob 0 0 5 9 5', // unfollowed-still-counted
  'dan ann 0 0 0 9 0', // never-followed
  'dan bob 5 0 9 0 5', // latest-disagrees
  'ann bob 0 0 5 9 0', // the pair again
  'dan cem 0 0 0 0 0', // no times
]
/** The counts of an import of these rows. */
export const written = { users: 4, pairs: 7, edges: 5, events: 11 }
export const contradictions = {
  'followed-not-counted': 1,
  'unfollowed-still-counted': 1,
  'never-followed': 1,
  'latest-disagrees': 1,
}
export const passedOver = { known: 1, blocked: 0, deleted: 0, unknown: 0, empty: 2 }
