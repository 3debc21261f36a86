import { findingOf, type IntegrityServices, type Invariant } from '../invariant.ts'
import { hasMalformed, uncertain } from './document-shapes.ts'

const invariant = { name: 'registration-copies', law: 'L1' } as const

/**
 * Law L1: each copy of the registrations has what the registrations have, because pages and deliveries read one copy.
 * They pass over a missing copy. The repair writes the copies again. A recheck is two commands.
 */
export const registrationCopies = (services: IntegrityServices): Invariant<object, string> => ({
  ...invariant,
  async *scan() {
    yield* (await services.copies.findDifferences({})).stale
  },
  async recheck(some, at) {
    const { stale } = await services.copies.findDifferences(at)
    const [expected, found] = ['the registrations', 'something else']
    const more = (await hasMalformed(services, 'strategies')) ? uncertain : {}
    const violations = stale
      .filter((id) => some.includes(id))
      .map((subject) => ({
        finding: findingOf(invariant, { kind: 'copy', subject, expected, found, ...more }),
      }))
    return { violations }
  },
  lock: (tx) => services.registrations.lockRegistrations(tx),
  repair: (tx) => services.copies.write(tx),
})
