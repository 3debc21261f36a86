import { expect, test } from 'vitest'
import { patient } from '../support/patience.ts'
import { size } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { type NameCase, nameDamages, problemsOfNames } from './damage/names.ts'

const harness = useServices()

/** Every two damages of one account. */
const pairs = nameDamages.flatMap((one, at) =>
  nameDamages.slice(at + 1).map((other): NameCase => [one, other]),
)

test(
  'no repair frees, gives or takes a handle or subject, whatever two fields of its account are damaged',
  async () => {
    // At night all pairs. By day always the same ones: two damages may look like what no damage
    // leaves.
    const step = size === 'night' ? 1 : 31
    const cases = pairs.filter((_, at) => at % step === 12 % step)
    expect(await problemsOfNames(harness.services, cases)).toEqual([])
  },
  patient(7_200_000),
)
