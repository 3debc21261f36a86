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
/** `none` runs the same clients and checks and causes nothing. */
export type FaultKind = (typeof faultKinds)[number] | 'none'

/** How the harness runs. */
export interface Options {
  /** How long faults are caused, in minutes; starting and checking take extra time. */
  readonly minutes: number
  readonly kinds: readonly FaultKind[]
  /** Decides what clients do, and the order and details of faults. */
  readonly seed: number
  /** How many clients send operations at the same time. */
  readonly clients: number
  /** The folder that holds the compiled command line. */
  readonly built: string
  readonly json: boolean
}

/**
 * Reads the arguments of the command line.
 * @throws Error that names the argument that is wrong.
 */
export function parseOptions(values: Readonly<Record<string, string | boolean>>): Options {
  const wanted = String(values.fault).split(',')
  const kinds: readonly FaultKind[] = wanted.includes('all') ? faultKinds : wanted.map(kindOf)
  return {
    kinds,
    minutes: numberOf('minutes', values.minutes, 0.05, 24 * 60),
    seed: wholeNumberOf('seed', values.seed, 0, 2 ** 32 - 1),
    clients: wholeNumberOf('clients', values.clients, 1, 64),
    built: String(values.built),
    json: values.json === true,
  }
}

function kindOf(text: string): FaultKind {
  const kind = [...faultKinds, 'none' as const].find((name) => name === text)
  if (kind) return kind
  throw new Error(
    `--fault: "${text}" is unknown. Use all, none, or some of ${faultKinds.join(', ')}`,
  )
}

function numberOf(name: string, value: unknown, min: number, max: number): number {
  const number = Number(value)
  if (value !== '' && number >= min && number <= max) return number
  throw new Error(`--${name}: must be a number from ${min} to ${max}`)
}

function wholeNumberOf(name: string, value: unknown, min: number, max: number): number {
  const number = numberOf(name, value, min, max)
  if (Number.isInteger(number)) return number
  throw new Error(`--${name}: must be a whole number`)
}
