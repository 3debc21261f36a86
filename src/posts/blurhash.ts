const alphabet =
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~'

/** The most components of a BlurHash in one direction. */
const componentsMax = 9

/** The most characters of a BlurHash. */
export const blurhashLengthMax = lengthFor(componentsMax * componentsMax)

/**
 * The first character, one for the largest value, four for the average colour, two for each further
 * component.
 */
function lengthFor(components: number): number {
  return 4 + 2 * components
}

/**
 * Why a text is not a BlurHash, or undefined. The first character of a BlurHash says how many
 * components it has, and so its length.
 */
export function blurhashProblem(hash: string): string | undefined {
  if (hash.length > blurhashLengthMax) return `must be at most ${blurhashLengthMax} characters`
  if (hash === '' || [...hash].some((character) => !alphabet.includes(character)))
    return 'must consist of characters of base 83'
  const size = alphabet.indexOf(hash.charAt(0))
  const [across, down] = [(size % componentsMax) + 1, Math.floor(size / componentsMax) + 1]
  if (down > componentsMax) return `must have at most ${componentsMax} components in each direction`
  const expected = lengthFor(across * down)
  return hash.length === expected
    ? undefined
    : `must be ${expected} characters, as its first character says`
}
