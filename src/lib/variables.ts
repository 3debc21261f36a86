import { isIP } from 'node:net'
import { z } from 'zod'
import {
  type NumberRule,
  numberRule,
  wholeNumberRule,
  zeroOrNumberRule,
  zeroOrWholeNumberRule,
} from './numbers.ts'
import { parseOrigin } from './origins.ts'
import { shown } from './shown.ts'
import { parseUrl } from './url.ts'

// What environment variables accept. A problem is the end of a sentence that begins with the name of the variable.

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
export const zeroOrDecimal = (min: number, max: number) => numeric(zeroOrNumberRule(min, max))

/** A port; 0: any free one. */
export const port = wholeNumber(0, 65_535)

export const oneOf = <const Value extends string>(values: readonly Value[]) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

export const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true')

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
  .regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://')

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

/** Checks variables by their schema. A wrong variable is left out, so that the rest is checked all the same. */
export function readVariables<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  given: Given,
): Reading<z.output<z.ZodObject<Shape>>> {
  const issues = schema.safeParse(given, { reportInput: true }).error?.issues ?? []
  const names = new Set(issues.map(({ path }) => path[0]))
  const isWrong = ([name]: [string, unknown]) => names.has(name)
  const entries = Object.entries(given)
  return {
    values: schema.parse(Object.fromEntries(entries.filter((one) => !isWrong(one)))),
    wrong: Object.fromEntries(entries.filter(isWrong)),
    problems: issues.map(({ path, message, input }) => {
      const name = String(path[0])
      const isSecret = (schema.shape[name] as z.ZodType).meta()?.isSecret === true
      const value = typeof input === 'string' ? input : (given[name] ?? '')
      return `${name}: ${message}${isSecret ? '' : `, not ${shown(value)}`}`
    }),
  }
}
