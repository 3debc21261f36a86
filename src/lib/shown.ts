const shownMax = 120

/**
 * A value as it is shown to the operator who set it: in quotes, invisible characters escaped, and
 * without the credentials of a URI.
 */
export function shown(value: string): string {
  const text = withoutCredentials(value)
  const cut = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
  return JSON.stringify(cut).replaceAll(
    /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/**
 * A password may hold "/", "?" and "@" unescaped, so all before the last "@" is left out. So is
 * what stands where a port should be, and the value of an option that may be a secret.
 */
function withoutCredentials(value: string): string {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(value) ?? []
  if (scheme === undefined) return value.replace(/^.*:.*@/s, '***@')
  const at = rest.lastIndexOf('@')
  const [, hosts = '', path = ''] = /^([^/?#]*)(.*)$/s.exec(rest.slice(at + 1)) ?? []
  const ports = hosts.replaceAll(/(?<!\[[^\]]*):(?!\d*(,|$))[^,]*/g, ':***')
  const options = path.replaceAll(/((?:pass|secret|token|properties)[^=&]*=)[^&]*/gi, '$1***')
  return `${scheme}${at < 0 ? '' : '***@'}${ports}${options}`
}
