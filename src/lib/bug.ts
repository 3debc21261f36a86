/** The classes of errors that only a mistake in code throws. */
const mistakes = [TypeError, RangeError, ReferenceError, SyntaxError]
const isErrorWithCause = (error: unknown): error is Error & { readonly cause: unknown } =>
  error instanceof Error && error.cause !== undefined && error.cause !== null

/**
 * The mistake in code that an error is, or that it wraps. Undefined for an error of the system, the
 * network, the database or the configuration, which an operator can act on. Anything thrown that is
 * no Error is a mistake too.
 */
export function bugOf(error: unknown): { readonly thrown: unknown } | undefined {
  let thrown = error
  while (isErrorWithCause(thrown)) thrown = thrown.cause
  if (!(thrown instanceof Error)) return thrown === error ? { thrown } : undefined
  const { code } = thrown as NodeJS.ErrnoException
  // Node gives a code to errors of values too, such as a wrong URL. A wrong type comes from code
  // alone.
  const isOfValue = typeof code === 'string' && code !== 'ERR_INVALID_ARG_TYPE'
  return !isOfValue && mistakes.some((mistake) => thrown instanceof mistake)
    ? { thrown }
    : undefined
}
