import { isIP } from 'node:net'
import { z } from 'zod'
import { type NumberRule, numberRule, wholeNumberRule, zeroOrWholeNumberRule } from './numbers.ts'
import { shown } from './shown.ts'
import { parseUrl } from './url.ts'

// What environment variables accept. A problem is the end of a sentence that begins with the name
// of the variable.

const numeric = ({ problem, read }: NumberRule) =>
  z
    .string()
    .refine((text) => read(text) !== undefined, { error: problem })
    .transform((text) => read(text) as number)

/** Bounds are included. */
export const wholeNumber = (min: number, max: number) => numeric(wholeNumberRule(min, max))
export const zeroOrWholeNumber = (min: number, max: number) =>
  numeric(zeroOrWholeNumberRule(min, max))
export const decimal = (min: number, max: number) => numeric(numberRule(min, max))

/** A port; 0: any free one. */
export const port = wholeNumber(0, 65_535)

export const oneOf = <const Value extends string>(values: readonly Value[]) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** Texts with commas between them. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
)

/** A text that no message shows. */
export const secret = (lengthMin: number) =>
  z.string().min(lengthMin, {
    error: ({ input }) =>
      `must be at least ${lengthMin} characters, and has ${String(input).length}`,
  })

export const httpUrl = z
  .string()
  .refine((text) => /^https?:$/.test(parseUrl(text)?.protocol ?? ''), {
    error: 'must be an http or https URL, as in https://collector.example',
  })

export const mongodbUri = z
  .string()
  .regex(
    /^mongodb(\+srv)?:\/\/|^embedded$/,
    'must start with mongodb:// or mongodb+srv://, or be embedded',
  )

/** An origin in the form that browsers send. */
export const origin = z
  .string()
  .refine((text) => parseOrigin(text) !== undefined, {
    error:
      'must be an origin: scheme, host and port, as in https://app.example or capacitor://localhost',
  })
  .transform((text) => parseOrigin(text) as string)

/** An address or name to listen on. An IPv6 address may stand in brackets, as in a URL. */
export const listenHost = z
  .string()
  .transform((text) => text.replace(/^\[(.*)\]$/, '$1'))
  .refine((text) => isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text), {
    error: 'must be an address or a host name without scheme and port, as in 0.0.0.0 or [::]',
  })

/** Environment variables by name; empty and blank ones are left out. */
export type Given = Readonly<Record<string, string>>

/** What variables say. */
export interface Reading<Values> {
  /** A wrong variable has its default here. */
  readonly values: Values
  /** The variables that are wrong by themselves, as they were given. */
  readonly wrong: Given
  /** A sentence for each wrong value: the variable, what it must be, and the value. */
  readonly problems: readonly string[]
}

/**
 * What docs/reference/configuration.md says about an environment variable, beside what its schema
 * accepts.
 */
interface VariableTexts {
  /** What it does, and why one would set it. Markdown without a full stop at the end. */
  readonly reason: string
  /**
   * Which processes over one database may differ in it. `own`: all may. `database`: the
   * registration of a strategy keeps its value, and every process uses that one. `equal`: a process
   * with another value refuses to start, by a check in `open-database.ts`.
   */
  readonly processes: 'own' | 'database' | 'equal'
  /** Whether no message may show its value. */
  readonly isSecret?: true
}

/** An environment variable. It has a default, or says what holds without it. */
export type Variable = VariableTexts &
  (
    | { readonly schema: z.ZodDefault; readonly unset?: never }
    | { readonly schema: z.ZodOptional; readonly unset: string }
  )

/** Environment variables by name. */
export type Variables = Readonly<Record<string, Variable>>

/** The values of variables. */
export type ValuesOf<Table extends Variables> = {
  readonly [Name in keyof Table]: z.output<Table[Name]['schema']>
}

/**
 * Checks variables by their schemas. A wrong variable is left out, so that the rest is checked all
 * the same.
 */
export function readVariables<const Table extends Variables>(
  table: Table,
  environment: Given,
): Reading<ValuesOf<Table>> {
  const schema = z.object(
    Object.fromEntries(Object.entries(table).map(([name, variable]) => [name, variable.schema])),
  )
  const issues = schema.safeParse(environment, { reportInput: true }).error?.issues ?? []
  const names = new Set(issues.map(({ path }) => path[0]))
  const isWrong = ([name]: [string, unknown]) => names.has(name)
  const entries = Object.entries(environment)
  const right = entries.filter((entry) => !isWrong(entry))
  return {
    values: schema.parse(Object.fromEntries(right)) as ValuesOf<Table>,
    wrong: Object.fromEntries(entries.filter(isWrong)),
    problems: issues.map(({ path, message, input }) => {
      const name = String(path[0])
      const value = typeof input === 'string' ? input : (environment[name] ?? '')
      return `${name}: ${message}${table[name]?.isSecret ? '' : `, not ${shown(value)}`}`
    }),
  }
}

/**
 * The origin of a URL as browsers send it: in lower case, without a default port and without a
 * slash at its end. Any scheme may have origins: apps use `capacitor://localhost`,
 * `tauri://localhost` and `chrome-extension://ID`.
 * @returns undefined if the text is no origin: it has a path, a user, a query or a wildcard, or no
 *   host.
 */
function parseOrigin(text: string): string | undefined {
  if (/[?#\\@*\s]/.test(text) || !text.includes('://')) return undefined
  const url = parseUrl(text)
  if (!url?.host || url.protocol === 'file:' || !/^\/?$/.test(url.pathname)) return undefined
  // Other schemes have no `origin` in the standard, but browsers send one.
  return `${url.protocol}//${url.host}`.toLowerCase()
}
