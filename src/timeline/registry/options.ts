import type { StrategyDoc } from '../../db/collections.ts'
import {
  type ByStrategy,
  byStrategy,
  descriptors,
  type MaterialisedName,
  type SettingName,
  type SettingValues,
} from '../strategies/list.ts'
import type { Registered } from './registry.ts'

/** The options of a strategy, by name. */
export type Options = Readonly<Record<string, number>>

/** The options that a new registration of each strategy takes from the configuration. */
export const configuredOptions = (values: SettingValues): ByStrategy<Options> =>
  byStrategy(({ settings }) =>
    Object.fromEntries(
      Object.entries(settings).flatMap(([setting, { option }]) =>
        option ? [[option.name, option.toStored(values[setting as SettingName])]] : [],
      ),
    ),
  )

/**
 * The update of the options that a registration of an older version lacks. Undefined if it lacks
 * none.
 */
export function missingOptions(
  { options }: StrategyDoc,
  wanted: Options,
): Record<string, number> | undefined {
  const lacks = Object.entries(wanted).filter(([name]) => options[name] === undefined)
  if (lacks.length === 0) return undefined
  return Object.fromEntries(lacks.map(([name, value]) => [`options.${name}`, value]))
}

/**
 * Describes, in one sentence each, the options whose configured value differs from the stored
 * value, which is used.
 * @param names the strategies that this process serves.
 */
export function optionWarnings(
  registered: Registered,
  configured: ByStrategy<Options>,
  names: readonly MaterialisedName[],
): string[] {
  return names.flatMap((name) =>
    Object.values(descriptors[name].settings).flatMap(({ variable, option }) => {
      if (!option) return []
      const value = configured[name][option.name]
      const kept = registered.get(name)?.options[option.name]
      if (value === undefined || kept === undefined || kept === value) return []
      return [
        `${variable} is ${option.toVariable(value)} in this process, but the database stores ` +
          `${option.toVariable(kept)} for ${name}. Feedline uses the stored value. ` +
          `To change it, ${option.howToChange(name)}.`,
      ]
    }),
  )
}
