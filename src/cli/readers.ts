import { Option } from 'commander'
import { wholeNumber } from './numbers.ts'

/** `--readers`: the readers whose timelines are compared. */
export const readersOption = (): Option =>
  new Option('--readers <n>', 'compare the timelines of n random readers, or of "all" readers')
    .argParser((text) => (text === 'all' ? text : wholeNumber(0, 100_000)(text)))
    .default(100)
