import { expect, expectTypeOf, test } from 'vitest'
import type {
  StoredForm,
  StrategyDescriptor,
  StrategyParts,
} from '../../src/feed/strategies/descriptor.ts'
import {
  byStrategy,
  createFilters,
  descriptors,
  feedStrategyNames,
  isMaterialised,
  materialisedNames,
  sharersOf,
} from '../../src/feed/strategies/list.ts'
import type { Setting, StoredOption } from '../../src/feed/strategies/setting.ts'

const all = Object.values(descriptors)
const repeatedIn = (names: readonly string[]) => names.filter((one, at) => names.indexOf(one) < at)

test('no two strategies share a name, an option, a variable or an own collection, except options of a shared form', () => {
  const declared = new Map<Setting, string>()
  for (const { settings } of all)
    for (const [name, setting] of Object.entries(settings)) declared.set(setting, name)
  const settings = [...declared.values()]
  const variables = [...declared.keys()].map(({ variable }) => variable)
  const owned = all.flatMap(({ collections }) => collections.own)
  for (const names of [feedStrategyNames, settings, variables, owned]) {
    expect(repeatedIn(names)).toEqual([])
  }
})

test('a collection belongs to one strategy, or is declared as shared by all its strategies', () => {
  const owned = all.flatMap(({ collections }) => collections.own)
  for (const name of materialisedNames) {
    const { own, shared } = descriptors[name].collections
    expect([...own, ...shared]).toContain(descriptors[name].storedForm.collection)
    expect(shared.filter((one) => owned.includes(one))).toEqual([])
    expect(shared.length > 0, name).toBe(sharersOf(name).length > 0)
  }
})

test('every strategy except FANOUT_ON_READ stores timelines', () => {
  expect(feedStrategyNames.filter((name) => !isMaterialised(name))).toEqual(['FANOUT_ON_READ'])
  expect(Object.keys(byStrategy(() => true))).toEqual(materialisedNames)
})

test('a strategy with an author filter shares its collection with a strategy that stores all authors', () => {
  const filtered = materialisedNames.filter((name) => descriptors[name].authors !== 'all')
  expect([...createFilters({} as StrategyParts).keys()]).toEqual(filtered)
  for (const name of filtered) {
    expect(sharersOf(name).map((other) => descriptors[other].authors)).toContain('all')
  }
})

test('a stored option of a registration converts back to the value of its variable', () => {
  for (const { settings } of all) {
    for (const { schema, option } of Object.values(settings)) {
      const value = schema.parse(undefined)
      expect(option ? option.toVariable(option.toStored(value)) : value).toBe(value)
    }
  }
})

/** The members that a value of this type may leave out. */
type Optional<T> = { [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K> ? K : never }[keyof T]

test('a strategy descriptor without one of its parts does not compile', () => {
  expectTypeOf<Optional<{ a: 1; b?: 2 }>>().toEqualTypeOf<'b'>()
  expectTypeOf<Optional<StrategyDescriptor>>().toBeNever()
  expectTypeOf<Optional<StrategyDescriptor['collections']>>().toBeNever()
  expectTypeOf<Optional<StrategyDescriptor['table']>>().toBeNever()
  expectTypeOf<Optional<StoredForm>>().toBeNever()
  expectTypeOf<Optional<Setting>>().toBeNever()
  expectTypeOf<Optional<StoredOption>>().toBeNever()
})
