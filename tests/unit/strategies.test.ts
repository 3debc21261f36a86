import { expect, expectTypeOf, test } from 'vitest'
import type { StoredForm, StrategyDescriptor } from '../../src/timeline/strategies/descriptor.ts'
import {
  byStrategy,
  descriptors,
  feedStrategyNames,
  isMaterialised,
  materialisedNames,
} from '../../src/timeline/strategies/list.ts'
import type { Setting, StoredOption } from '../../src/timeline/strategies/setting.ts'

const all = Object.values(descriptors)
const repeatedIn = (names: readonly string[]) => names.filter((one, at) => names.indexOf(one) < at)

test('no two strategies share a name, an option, a variable or a collection', () => {
  const declared = new Map<Setting, string>()
  for (const { settings } of all)
    for (const [name, setting] of Object.entries(settings)) declared.set(setting, name)
  const settings = [...declared.values()]
  const variables = [...declared.keys()].map(({ variable }) => variable)
  const owned = all.flatMap(({ collections }) => collections)
  for (const names of [feedStrategyNames, settings, variables, owned]) {
    expect(repeatedIn(names)).toEqual([])
  }
})

test('the collection of stored entries is emptied when its strategy is dropped', () => {
  for (const name of materialisedNames) {
    expect(descriptors[name].collections).toContain(descriptors[name].storedForm.collection)
  }
})

test('every strategy except FANOUT_ON_READ stores timelines', () => {
  expect(feedStrategyNames.filter((name) => !isMaterialised(name))).toEqual(['FANOUT_ON_READ'])
  expect(Object.keys(byStrategy(() => true))).toEqual(materialisedNames)
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
  expectTypeOf<Optional<StrategyDescriptor['table']>>().toBeNever()
  expectTypeOf<Optional<StoredForm>>().toBeNever()
  expectTypeOf<Optional<Setting>>().toBeNever()
  expectTypeOf<Optional<StoredOption>>().toBeNever()
})
