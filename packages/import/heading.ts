import { type ColumnName, columnName } from './heading-words.ts'
import { filledCount } from './separated.ts'

/** The fields of a line. */
export interface Row {
  readonly line: number
  readonly text: string
  readonly fields: readonly string[]
}

/** The places of the two names in each line: `from` follows `to`. */
export interface Columns {
  readonly from: number
  readonly to: number
}

/** What the first line with several fields is. */
type FirstRow =
  | { readonly kind: 'EDGE' }
  | ({ readonly kind: 'HEADING' } & Columns)
  /** Why it cannot be decided, as the end of a sentence. */
  | { readonly kind: 'UNCLEAR'; readonly problem: string; readonly help?: string }

const edge = { kind: 'EDGE' } as const
const unclear = (problem: string) => ({ kind: 'UNCLEAR', problem }) as const
const eitherProblem = 'may be a heading or an edge'
const columnsProblem = 'is a heading, but names no columns of followers and followees'

/**
 * Decides whether the first row is a heading, by its words and by the rows below it: a heading is a
 * row that no other row resembles. What may be an edge is never taken for a heading, or the other
 * way round: such a row is unclear.
 * @param others the rows below, without those of the same text.
 * @param isName whether a field can be the name of a user.
 */
export function decideFirstRow(
  first: Row,
  others: readonly Row[],
  isName: (field: string) => boolean,
): FirstRow {
  const words = first.fields.map(columnName)
  // A handle may have one of the words, such as fran.smith.
  const columns = words.map((word, at) =>
    word && (word.rest === '' || !isName(first.fields[at] ?? '')) ? word : undefined,
  )
  const byRole = columnsByRole(columns) ?? columnsAlike(words)
  const pair = first.fields.slice(0, 2)
  const names = new Set(others.flatMap(({ fields }) => fields.slice(0, 2).map(lower)))
  if (byRole) {
    const headings = [first.fields[byRole.from], first.fields[byRole.to]] as string[]
    const isUsed = headings.some((field) => isName(field) && names.has(lower(field)))
    return isUsed ? unclear(eitherProblem) : headingAt(byRole, first, others, words)
  }
  const numbered = columnsByOrdinal(columns)
  if (!pair.every((field) => isName(field))) {
    return numbered?.isClear
      ? headingAt(numbered, first, others, words)
      : withoutNames(first, others, isName)
  }
  const shapes = new Set([...names].map(shapeOf))
  const resembles = pair.some((field) => names.has(lower(field)))
  if (numbered && others.length > 0) {
    if (resembles || pair.some((field) => shapes.has(shapeOf(field)))) return edge
    return numbered.isClear ? headingAt(numbered, first, others, words) : unclear(eitherProblem)
  }
  if (resembles || others.length === 0) return edge
  if (pair.some(isNumber))
    return isCount(pair) && !others.some(hasNumber) ? unclear(eitherProblem) : edge
  if (pair.every((_, at) => columns[at]?.role === 'USER')) return unclear(columnsProblem)
  const isLone = pair.some((_, at) => columns[at] && columns[at].role !== 'USER')
  const numberColumns = pair.filter((_, at) =>
    others.every(({ fields }) => isNumber(fields[at] ?? '')),
  ).length
  const isAboveNumbers = numberColumns === 2 || (numberColumns === 1 && others.length > 1)
  const isCapital = pair.every(hasCapital) && !others.some(({ text }) => hasCapital(text))
  return isLone || isAboveNumbers || isCapital || isApart(others) ? unclear(eitherProblem) : edge
}

/**
 * A first row with a field that is no name: the heading of two columns, a bad line among others, or
 * a table of something else.
 */
function withoutNames(
  first: Row,
  others: readonly Row[],
  isName: (field: string) => boolean,
): FirstRow {
  const isEdge = ({ fields }: Row) => fields.slice(0, 2).every((field) => isName(field))
  if (!others.some(isEdge)) return edge
  const hasTwo = (row: Row) => filledCount(row.fields) === 2
  if (hasTwo(first) && others.some(hasTwo)) return { kind: 'HEADING', from: 0, to: 1 }
  return unclear('is no edge, and names no columns of followers and followees')
}

/**
 * Finds the columns by the words follower, to, … A column of users without such a word is the other
 * side.
 */
export function columnsByRole(columns: readonly (ColumnName | undefined)[]): Columns | undefined {
  // Of "Source" and "Source Type", the first is the name.
  const first = (role: ColumnName['role']) => {
    const exact = columns.findIndex((column) => column?.role === role && column.rest === '')
    return exact >= 0 ? exact : columns.findIndex((column) => column?.role === role)
  }
  const from = first('FOLLOWER')
  const to = first('FOLLOWEE')
  const either = first('FOLLOWING')
  const user = first('USER')
  if (from >= 0 && (to >= 0 || either >= 0)) return { from, to: to >= 0 ? to : either }
  if (to >= 0 && either >= 0) return { from: either, to }
  if (user < 0) return undefined
  if (from >= 0) return { from, to: user }
  const followee = to >= 0 ? to : either
  return followee >= 0 ? { from: user, to: followee } : undefined
}

/**
 * Finds columns by their roles that have the same unknown word, such as `follower_xy,followee_xy`.
 */
function columnsAlike(words: readonly (ColumnName | undefined)[]): Columns | undefined {
  const columns = columnsByRole(words)
  return columns && words[columns.from]?.rest === words[columns.to]?.rest ? columns : undefined
}

/**
 * Finds two columns of one kind, such as `user1,user2`. They are clear if a word says what kind
 * that is.
 */
function columnsByOrdinal(
  columns: readonly (ColumnName | undefined)[],
): (Columns & { readonly isClear: boolean }) | undefined {
  const from = columns.findIndex((column) => column?.ordinal !== undefined)
  const stem = columns[from]?.stem
  const to = columns.findIndex(
    (column, at) => at > from && column?.ordinal !== undefined && column.stem === stem,
  )
  if (from < 0 || to < 0) return undefined
  // read.table of R names the columns V1, V2.
  return { from, to, isClear: stem === 'v' || (stem ?? '').length > 1 }
}

/**
 * A table of R has the names of its rows before the columns that its heading names. Without quotes,
 * these are numbers that differ. If all fields are such numbers, the last one may also be a weight
 * without a name: the heading is unclear.
 */
function headingAt(
  { from, to }: Columns,
  first: Row,
  others: readonly Row[],
  words: readonly (ColumnName | undefined)[],
): FirstRow {
  if ([from, to].some((at) => holdsCounts(at, words, others))) return unclear(columnsProblem)
  const heading = { kind: 'HEADING', from, to } as const
  const count = filledCount(first.fields)
  if (others.length === 0 || others.some(({ fields }) => filledCount(fields) !== count + 1))
    return heading
  const shifted = { kind: 'HEADING', from: from + 1, to: to + 1 } as const
  if (others.every(({ text }, at) => text.startsWith(`"${at + 1}"`))) return shifted
  const column = (at: number) => others.map(({ fields }) => fields[at] ?? '')
  const names = column(0)
  if (!names.every(isNumber) || new Set(names).size < names.length) return heading
  if (column(count).every((field) => !isNumeric(field))) return shifted
  return column(1).every(isNumber) && column(count).every(isNumber)
    ? { ...unclear('names fewer columns than the other lines have'), help: 'Name each column.' }
    : heading
}

/** Whether a column is of numbers of users, such as `Followers` beside names. */
function holdsCounts(
  at: number,
  words: readonly (ColumnName | undefined)[],
  others: readonly Row[],
): boolean {
  const isOfNumbers = (place: number) => others.every(({ fields }) => isNumber(fields[place] ?? ''))
  const isBesideNames = words.some((word, place) => word?.role === 'USER' && !isOfNumbers(place))
  return words[at]?.isCount === true && isOfNumbers(at) && isBesideNames
}

/**
 * Whether each of these rows has a name that another one has too: then a row without one is not of
 * their kind.
 */
function isApart(others: readonly Row[]): boolean {
  if (others.length < 3) return false
  const counts = new Map<string, number>()
  const namesOf = ({ fields }: Row) => new Set(fields.slice(0, 2).map(lower))
  for (const row of others)
    for (const name of namesOf(row)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return others.every((row) => [...namesOf(row)].some((name) => (counts.get(name) ?? 0) > 1))
}

const lower = (field: string) => field.toLowerCase()
const isNumber = (field: string) => /^\d+$/.test(field)
/** Whether a field is a number, with a decimal comma too, or empty. */
export const isNumeric = (field: string) => Number.isFinite(Number(field.replace(',', '.')))
const hasCapital = (field: string) => /\p{Lu}/u.test(field)
const hasNumber = ({ fields }: Row) => fields.slice(0, 2).some(isNumber)
/** As pandas names columns without a name. */
const isCount = ([one, other]: readonly string[]) => one === '0' && other === '1'

/** Names of one shape differ in their numbers, or are single letters: `user9`, `x`. */
const shapeOf = (name: string) => name.replace(/\d+/g, '9').replace(/^[a-z](?=9?$)/, 'x')
