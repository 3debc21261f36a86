import { expect, test } from 'vitest'
import { judgeMemory, samplesMin } from '../../soak/memory-samples.ts'

/** Memory that rises from a floor until garbage is collected, in megabytes. */
const saw = (at: number, { from = 180, to = 253, period = 70 } = {}) =>
  from + ((to - from) * (at % period)) / period

/** Samples of a run of ten minutes, by what they are at each second, in megabytes. */
const samplesOf = (resident: (at: number) => number, used = (at: number) => resident(at) / 2) =>
  Array.from({ length: 600 }, (_, at) => ({
    residentBytes: resident(at) * 1e6,
    usedBytes: used(at) * 1e6,
  }))

test.each([
  ['a saw', samplesOf((at) => saw(at))],
  [
    'a saw whose last third begins lower and ends higher',
    samplesOf((at) => saw(at + 100, { period: 190 })),
  ],
  ['a saw that grows towards its top', samplesOf((at) => saw(at, { to: 200 + at / 4 }))],
  ['a saw after a first third that grows', samplesOf((at) => saw(at) - Math.max(0, 200 - at) / 2)],
  ['a process that gives memory back', samplesOf((at) => saw(at) - at / 10)],
])('the soak finds no leak in %s', (_, samples) => {
  expect(judgeMemory(samples).problems).toEqual([])
})

test.each([
  ['slow', (at: number) => saw(at) + at / 15],
  ['fast', (at: number) => saw(at) + at],
  ['late', (at: number) => saw(at) + Math.max(0, at - 380)],
])('the soak finds a %s leak under a saw', (_, leaking) => {
  expect(judgeMemory(samplesOf(leaking)).problems).toEqual([
    expect.stringMatching(
      /^the floor of the resident memory grew from \d+(\.\d)? to \d+(\.\d)? MB/,
    ),
    expect.stringContaining('the floor of the used memory'),
  ])
})

test('the soak finds a leak of objects that the resident memory hides', () => {
  const { problems } = judgeMemory(
    samplesOf(
      () => 300,
      (at) => saw(at, { from: 60, to: 90 }) + at / 30,
    ),
  )
  expect(problems).toEqual([expect.stringContaining('the floor of the used memory')])
})

test('the soak judges no memory of a run that is too short for it', () => {
  const leaking = samplesOf((at) => saw(at) + at)
  expect(judgeMemory(leaking.slice(0, samplesMin - 1)).problems).toEqual([])
  expect(judgeMemory(leaking.slice(0, samplesMin)).problems).not.toEqual([])
  expect(judgeMemory([]).problems).toEqual([])
})
