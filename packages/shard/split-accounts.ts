const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digits = `0123456789${capitals}${capitals.toLowerCase()}`

/**
 * All beginnings of ids with three characters, in order: enough for 99,944 ranges. Ids begin with a
 * capital.
 */
const beginnings = capitals.length * digits.length ** 2

const beginningAt = (n: number): string =>
  [
    capitals[Math.floor(n / digits.length ** 2)],
    digits[Math.floor(n / digits.length) % digits.length],
    digits[n % digits.length],
  ].join('')

/**
 * Splits all ids of accounts, which are spread evenly, into ranges with about the same number of
 * accounts.
 * @returns the first id of each range but the first one, strictly ascending.
 */
export const splitAccounts = (ranges: number): string[] =>
  Array.from({ length: ranges - 1 }, (_, at) =>
    beginningAt(Math.floor(((at + 1) * beginnings) / ranges)),
  )
