import { expect, test } from 'vitest'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { useServices } from '../support/services.ts'
import { nameDamages, problemsOfNames } from './damage/names.ts'

const harness = useServices()

test(
  'no repair frees, gives or takes a handle or subject, whatever field of its account is damaged',
  async () => {
    const cases = share(1, nameDamages).map((damage) => [damage])
    expect(await problemsOfNames(harness.services, cases)).toEqual([])
  },
  patient(120_000),
)
