/** Every kind of fault, by the name that the command line takes. */
export const faultKinds = [
  'kill-primary',
  'kill-server',
  'kill-servers',
  'kill-worker',
  'kill-all',
  'step-down',
  'stop-primary',
  'stop-server',
  'partition',
  'partition-with-clients',
  'full-disk',
  'clock',
] as const
/** `none` runs the same clients and checks without a fault. */
export type FaultKind = (typeof faultKinds)[number] | 'none'

/** The options of a run. */
export interface Options {
  /** How long faults are caused, in minutes. Starting and checking take additional time. */
  readonly minutes: number
  readonly kinds: readonly FaultKind[]
  /** The seed of the operations of clients, and of the order and details of faults. */
  readonly seed: number
  /** The number of concurrent clients. */
  readonly clients: number
  /** The folder that holds the compiled command line. */
  readonly built: string
  readonly json: boolean
}

/**
 * Reads the arguments of the command line.
 * @throws Error with the name of the invalid argument.
 */
export function parseOptions(values: Readonly<Record<string, string | boolean>>): Options {
  const names = String(values.fault).split(',')
  const kinds: readonly FaultKind[] = names.includes('all') ? faultKinds : names.map(parseKind)
  return {
    kinds,
    minutes: parseNumber('minutes', values.minutes, 0.05, 24 * 60),
    seed: parseInteger('seed', values.seed, 0, 2 ** 32 - 1),
    clients: parseInteger('clients', values.clients, 1, 64),
    built: String(values.built),
    json: values.json === true,
  }
}

function parseKind(text: string): FaultKind {
  const kind = [...faultKinds, 'none' as const].find((name) => name === text)
  if (kind) return kind
  throw new Error(
    `--fault: "${text}" is unknown. Use all, none, or kinds from ${faultKinds.join(', ')}`,
  )
}

function parseNumber(name: string, value: unknown, min: number, max: number): number {
  const number = Number(value)
  if (value !== '' && number >= min && number <= max) return number
  throw new Error(`--${name}: must be a number from ${min} to ${max}`)
}

function parseInteger(name: string, value: unknown, min: number, max: number): number {
  const number = parseNumber(name, value, min, max)
  if (Number.isInteger(number)) return number
  throw new Error(`--${name}: must be a whole number`)
}
