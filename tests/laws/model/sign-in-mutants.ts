import { FetchedKeys, KeySet } from '../../../src/graphql/key-set.ts'
import { SignIns } from '../../../src/graphql/sign-ins.ts'

type Method = (this: object, ...call: unknown[]) => unknown

/**
 * Replaces a method of a class, whether it is private or not. @returns what puts the method back.
 */
function replace(
  of: { readonly prototype: object },
  name: string,
  change: (method: Method) => Method,
) {
  const methods = of.prototype as Record<string, Method>
  const method = methods[name]
  if (!method) throw new Error(`${name} is no method`)
  methods[name] = change(method)
  return () => {
    methods[name] = method
  }
}

/** Mutants of sign-in, with known faults. Each lasts until what it returns is called. */
export const signInMutants: Readonly<Record<string, () => () => void>> = {
  'a request waits for keys in its place': () => replace(SignIns, 'prepare', () => () => undefined),
  'each token has keys fetched': () => replace(KeySet, 'mayCauseFetch', () => () => true),
  'an answer that is wrong replaces the keys': () =>
    replace(
      KeySet,
      'noteFailure',
      (note) =>
        function (this: object, problem) {
          const keys = new FetchedKeys(this as KeySet, String(problem), { keys: [] })
          Object.assign(this, { keys })
          note.call(this, problem)
        },
    ),
}
