/**
 * Returns a pseudo-random number, at least 0 and below 1, that depends on its arguments alone.
 * Every index of a stream costs the same, so a run can resume at any index.
 * @param seed, index, stream integers from 0 to 4,294,967,295.
 */
export function randomAt(seed: number, index: number, stream: number): number {
  const mixed = mix(mix(mix(seed ^ 0x9e3779b9) ^ index) ^ Math.imul(stream + 1, 0x85ebca6b))
  return (mixed >>> 0) / 2 ** 32
}

/** The finaliser of MurmurHash3: each bit of the input changes half of the bits of the output. */
function mix(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/**
 * Draws ranks by Zipf's law: rank r (from 0) has the weight 1 / (r + 1).
 * @param size the number of ranks. Each takes 8 bytes.
 * @returns a function from a random number, at least 0 and below 1, to a rank. It takes log2(size)
 *   steps.
 */
export function zipf(size: number): (random: number) => number {
  const upTo = new Float64Array(size)
  let sum = 0
  for (let rank = 0; rank < size; rank++) {
    sum += 1 / (rank + 1)
    upTo[rank] = sum
  }
  return (random) => {
    const wanted = random * sum
    let [low, high] = [0, size - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((upTo[middle] ?? 0) > wanted) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Returns the numbers from 0 to `size` - 1 in an order that depends on the seed and the stream. */
export function shuffled(size: number, seed: number, stream: number): Uint32Array {
  const order = Uint32Array.from({ length: size }, (_, at) => at)
  for (let at = size - 1; at > 0; at--) {
    const other = Math.floor(randomAt(seed, at, stream) * (at + 1))
    const held = order[at] ?? 0
    order[at] = order[other] ?? 0
    order[other] = held
  }
  return order
}
