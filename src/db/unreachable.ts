import { MongoServerSelectionError } from 'mongodb'

/** Why the variable with a URI cannot be used: `message` is one sentence, with hosts and without credentials. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** The error for the operator who set `uri`, from the error of a failed connection. */
export function unreachable(
  uri: string,
  error: unknown,
  variable = 'MONGODB_URI',
): UnreachableError {
  const hosts = hostsOf(uri)
  const where = hosts ? ` at ${hosts}` : ''
  const message = `${variable}: the database${where} cannot be used: ${reasonOf(error, hosts)}.`
  return new UnreachableError(message, { cause: error })
}

/** The hosts of a URI. Undefined if they may contain a part of a password, as after a "/" or "?" in the password. */
function hostsOf(uri: string): string | undefined {
  const [, authority = '', rest = ''] = /^[^:]+:\/\/([^/?#]*)(.*)$/s.exec(uri) ?? []
  return rest.includes('@') ? undefined : authority.slice(authority.lastIndexOf('@') + 1)
}

function reasonOf(error: unknown, hosts: string | undefined): string {
  if (error instanceof MongoServerSelectionError) return topologyProblem(error)
  const reason = error instanceof Error ? error.message : String(error)
  // The driver quotes a user name that it cannot parse, and that may be part of a password.
  return !hosts || /unescaped/.test(reason)
    ? 'a host is missing, or a character of its user name or password is not percent-encoded'
    : reason.replace(/\.$/, '')
}

/** Explains why no primary was found. The driver ignores members of another replica set without an error. */
function topologyProblem({ message, reason }: MongoServerSelectionError): string {
  if (!reason) return message
  const faults = [...reason.servers.values()].flatMap((server) => server.error?.message || [])
  if (faults.length > 0) return [...new Set(faults)].join(', ')
  return reason.setName && reason.servers.size === 0
    ? `none of its hosts is a member of a replica set named "${reason.setName}"`
    : 'none of its hosts is the primary'
}
