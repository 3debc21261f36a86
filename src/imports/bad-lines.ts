/** A line that the import skips, and why. */
export interface BadLine {
  readonly line: number
  readonly problem: string
}

/** How many bad lines a report names. */
export const badLinesKept = 20

/** The bad lines of a file: their number, and the first {@link badLinesKept} of them. */
export class BadLines {
  count = 0
  readonly first: BadLine[] = []

  add(line: number, problem: string): void {
    this.count++
    if (this.first.length < badLinesKept) this.first.push({ line, problem })
  }
}

/** At most 80 characters of a text, to quote in a problem. */
export const shortened = (text: string): string =>
  text.length > 80 ? `${text.slice(0, 80)}…` : text

/** Names a number of fields. */
export const fieldCount = (count: number): string => `${count} field${count === 1 ? '' : 's'}`
