import type { CostBySize, OperationCost } from './constants.ts'

export const noCost: OperationCost = { serverUs: 0, mongodUs: 0, oplogBytes: 0, writes: 0 }

/** Combines each part of two costs. */
const combine = (
  a: OperationCost,
  b: OperationCost,
  part: (a: number, b: number) => number,
): OperationCost => ({
  serverUs: part(a.serverUs, b.serverUs),
  mongodUs: part(a.mongodUs, b.mongodUs),
  oplogBytes: part(a.oplogBytes, b.oplogBytes),
  writes: part(a.writes, b.writes),
})

/** The cost of `times` operations. */
export const scaleCost = (cost: OperationCost, times: number): OperationCost =>
  combine(cost, cost, (one) => one * times)

/** The lower of two costs, part by part. */
export const lowerCost = (a: OperationCost, b: OperationCost): OperationCost =>
  combine(a, b, Math.min)

/** The cost of all these operations. */
export const sumCosts = (costs: readonly OperationCost[]): OperationCost =>
  costs.reduce((sum, one) => combine(sum, one, (a, b) => a + b), noCost)

/**
 * The cost at a size between two measured sizes: on the line between both. Below the smallest size,
 * the cost of the smallest one. Above the largest, the line through the last two goes on. A larger
 * size never costs less.
 */
export function costAt(bySize: CostBySize, size: number): OperationCost {
  const points = risingPoints(bySize)
  const [smallest] = points
  if (!smallest) return noCost
  if (size <= smallest.size) return smallest.cost
  const next = Math.max(
    1,
    points.findIndex((point) => point.size >= size),
  )
  const at = size > (points.at(-1)?.size ?? 0) ? points.length - 1 : next
  const [from, to] = [points[at - 1] ?? smallest, points[at] ?? smallest]
  if (from === to) return from.cost
  const share = (size - from.size) / (to.size - from.size)
  return combine(from.cost, to.cost, (a, b) => a + (b - a) * share)
}

interface Point {
  readonly size: number
  readonly cost: OperationCost
}

/**
 * The measured points by size. A measurement that is below that of a smaller size is noise: it
 * takes its value.
 */
function risingPoints(bySize: CostBySize): readonly Point[] {
  const sorted = Object.entries(bySize)
    .map(([size, cost]) => ({ size: Number(size), cost }))
    .sort((a, b) => a.size - b.size)
  const points: Point[] = []
  for (const { size, cost } of sorted) {
    const before = points.at(-1)?.cost ?? noCost
    points.push({ size, cost: combine(cost, before, Math.max) })
  }
  return points
}
