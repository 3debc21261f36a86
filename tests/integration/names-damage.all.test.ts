import { describe, expect, test } from 'vitest'
import { patient } from '../support/patience.ts'
import { size } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { accountForms, type NameCase, nameDamages, problemsOfNames } from './damage/names.ts'

const others = accountForms.filter((form) => form !== 'minted')

/** Every two damages of one account. */
const pairs = accountForms.flatMap((form) =>
  nameDamages.flatMap((one, at) =>
    nameDamages.slice(at + 1).map((other): NameCase => ({ form, damages: [one, other] })),
  ),
)

describe('accounts of earlier releases', () => {
  const harness = useServices()

  test(
    'no repair frees, gives or takes a handle or subject of an account of an earlier release',
    async () => {
      const cases = others.flatMap((form) =>
        nameDamages.map((damage) => ({ form, damages: [damage] })),
      )
      expect(await problemsOfNames(harness.services, cases)).toEqual([])
    },
    patient(240_000),
  )
})

describe('two damages', () => {
  const harness = useServices()

  test(
    'no repair frees, gives or takes a handle or subject, whatever two fields of its account are damaged',
    async () => {
      // At night all pairs. By day always the same ones: two damages may look like what no damage leaves.
      const step = size === 'night' ? 1 : 31
      const cases = pairs.filter((_, at) => at % step === 12 % step)
      expect(await problemsOfNames(harness.services, cases)).toEqual([])
    },
    patient(7_200_000),
  )
})
