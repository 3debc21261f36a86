import { MongoServerSelectionError } from 'mongodb'

/** Why MONGODB_URI cannot be used: `message` is one sentence, with hosts and without credentials. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** What to tell whoever set `uri` when connecting to it has failed. */
export function unreachable(uri: string, error: unknown): UnreachableError {
  const hosts = hostsOf(uri)
  const where = hosts ? ` at ${hosts}` : ''
  const message = `MONGODB_URI: the database${where} cannot be used: ${reasonOf(error, hosts)}.`
  return new UnreachableError(message, { cause: error })
}

/** Undefined where a password may stand among them: a "/" or "?" in it would end the hosts too early. */
function hostsOf(uri: string): string | undefined {
  const [, authority = '', rest = ''] = /^[^:]+:\/\/([^/?#]*)(.*)$/s.exec(uri) ?? []
  return rest.includes('@') ? undefined : authority.slice(authority.lastIndexOf('@') + 1)
}

function reasonOf(error: unknown, hosts: string | undefined): string {
  if (error instanceof MongoServerSelectionError) return topologyProblem(error)
  const reason = error instanceof Error ? error.message : String(error)
  // The driver repeats a user name that it cannot read, which may be part of a password.
  return !hosts || /unescaped/.test(reason)
    ? 'a host is missing, or a character of its user name or password is not percent-encoded'
    : reason.replace(/\.$/, '')
}

/** The driver passes over members of another replica set in silence. */
function topologyProblem({ message, reason }: MongoServerSelectionError): string {
  if (!reason) return message
  const faults = [...reason.servers.values()].flatMap((server) => server.error?.message || [])
  if (faults.length > 0) return [...new Set(faults)].join(', ')
  return reason.setName && reason.servers.size === 0
    ? `none of its hosts is a member of a replica set named "${reason.setName}"`
    : 'none of its hosts is the primary'
}
