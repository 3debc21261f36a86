/**
 * The top-level domains that are rather the ends of file names in a text: source code, documents,
 * archives and films. Those of many sites that people name without a scheme stay domains, such as
 * `ai`, `app`, `cc`, `dev`, `io`, `pl` and `so`.
 */
export const fileEndings: ReadonlySet<string> = new Set([
  ...['gd', 'java', 'map', 'md', 'mk', 'ml', 'mm', 'mov', 'pm'],
  ...['ps', 'py', 'rs', 'sh', 'sv', 'tf', 'zip'],
])

/** What a country puts before its own domain, as in `una.edu.py`. */
const registries: ReadonlySet<string> = new Set([
  ...['ac', 'co', 'com', 'edu', 'gob', 'gov', 'mil', 'net', 'org'],
])

/**
 * Whether a domain without a scheme and a path is rather the name of a file: of its ending, or with
 * an underscore where no registry accepts one.
 * @param labels of the domain, at least two, the last one in lower case.
 */
export function isFileName(labels: readonly string[]): boolean {
  const [ending = '', name = '', ...more] = labels.toReversed()
  if (name.includes('_')) return true
  const isOfCountry = more.length > 0 && registries.has(name.toLowerCase())
  return fileEndings.has(ending) && !isOfCountry && labels[0]?.toLowerCase() !== 'www'
}
