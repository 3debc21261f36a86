/** A class of users with about the same number of followers, or of followees. */
export interface DegreeClass {
  /** The number of users in the class. */
  readonly users: number
  /** The mean number of edges of one of them. */
  readonly degree: number
}

/** How edges are spread over users, in classes. The classes hold each user once. */
export type Degrees = readonly DegreeClass[]

/** The number of users of all classes. */
export const countUsers = (degrees: Degrees): number =>
  degrees.reduce((sum, { users }) => sum + users, 0)

/** The number of edges of all classes. */
export const countEdges = (degrees: Degrees): number =>
  degrees.reduce((sum, { users, degree }) => sum + users * degree, 0)

/** Every user has the same number of edges. */
export const equalDegrees = (users: number, edges: number): Degrees => [
  { users, degree: edges / users },
]

/** The number of classes for each factor of ten of the rank. */
const classesPerDecade = 20
/** The number of the highest ranks that have a class of their own. */
const singleRanks = 100

/**
 * How many users a power law has, how many edges, the exponent of the rank, and the most edges of
 * one user.
 */
export interface PowerLaw {
  readonly users: number
  readonly edges: number
  readonly exponent: number
  readonly degreeMax: number
}

/**
 * The user of rank r has `degreeMax` at most, and otherwise C / r^`exponent` edges. C is chosen so
 * that all have `edges` together. With exponent 0 all users have the same number.
 */
export function powerLawDegrees({ users, edges, exponent, degreeMax }: PowerLaw): Degrees {
  const ranks = rankClasses(users)
  const weights = ranks.map(({ first, last }) => meanPower(first, last, exponent))
  const degreesFor = (scale: number): Degrees =>
    ranks.map(({ first, last }, at) => ({
      users: last - first + 1,
      degree: Math.min(degreeMax, scale * (weights[at] ?? 0)),
    }))
  let [low, high] = [0, degreeMax * users ** exponent]
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2
    if (countEdges(degreesFor(middle)) < edges) low = middle
    else high = middle
  }
  return degreesFor(high)
}

/** Ranks from 1 to `users`, in ranges that grow with the rank. */
function rankClasses(users: number): { readonly first: number; readonly last: number }[] {
  const classes: { first: number; last: number }[] = []
  for (let first = 1; first <= users; ) {
    const next = first < singleRanks ? first + 1 : Math.ceil(first * 10 ** (1 / classesPerDecade))
    const last = Math.min(users, next - 1)
    classes.push({ first, last })
    first = last + 1
  }
  return classes
}

/**
 * The mean of r^-exponent over the ranks from `first` to `last`, by the integral from half a rank
 * below to half above.
 */
function meanPower(first: number, last: number, exponent: number): number {
  if (first === last) return first ** -exponent
  const [from, to] = [first - 0.5, last + 0.5]
  const integral =
    exponent === 1
      ? Math.log(to / from)
      : (to ** (1 - exponent) - from ** (1 - exponent)) / (1 - exponent)
  return integral / (to - from)
}
