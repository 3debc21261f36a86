import Table from 'cli-table3'

const sides = ['top', 'bottom', 'left', 'right', 'mid'] as const
const ends = ['', '-mid', '-left', '-right'] as const
const noBorders = Object.fromEntries([
  ...sides.flatMap((side) => ends.map((end) => [`${side}${end}`, ''])),
  ['middle', '  '],
])

/** Aligns the columns of rows, with two spaces between them. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const table = new Table({
    chars: noBorders,
    style: { border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => [...row]))
  return rows.length === 0
    ? []
    : table
        .toString()
        .split('\n')
        .map((line) => line.trimEnd())
}
