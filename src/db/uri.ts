import { MongoClient } from 'mongodb'
import { shown } from '../lib/shown.ts'

/**
 * What the driver refuses in MONGODB_URI before it connects: one sentence without credentials.
 * Undefined if it refuses nothing. Sends nothing.
 */
export function uriProblem(uri: string | undefined): string | undefined {
  if (uri === undefined) return undefined
  if (isPathUnclear(uri)) return unclear(uri)
  try {
    new MongoClient(uri)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
    const srvProblem = srvProblems.find(([message]) => message.test(reason))?.[1]
    if (srvProblem) return `MONGODB_URI: ${shown(uri)} ${srvProblem}`
    return isAboutSecret.test(reason) || /\?.*@/s.test(uri)
      ? unclear(uri)
      : `MONGODB_URI: ${shown(uri)} has an option that MongoDB's driver refuses: ${reason}`
  }
}

/** What the driver refuses of a URI whose hosts are in DNS. */
const srvProblems = [
  [/^mongodb\+srv.* port/, 'has a port, which mongodb+srv:// reads from DNS; remove the port'],
  [/^mongodb\+srv.* multiple/, 'has several hosts, which mongodb+srv:// reads from DNS; name one'],
] as const

/**
 * Messages that quote what the driver takes for a host or a user, and that may be a part of the
 * password.
 */
const isAboutSecret =
  /unescaped|^Unable to parse|^Invalid (connection|scheme|port)|^URI|host list|contained empty/

/**
 * With an @ behind the first slash, except in the value of an option, a part of the password would
 * be taken for the host.
 */
const isPathUnclear = (uri: string): boolean => /^[^/]*\/\/[^/?]*\/[^?]*(?:\?[^=]*)?@/s.test(uri)

const unclear = (uri: string): string =>
  `MONGODB_URI: in ${shown(uri)} a host is missing, a port is no number up to 65535, or a character of the user name or password is not percent-encoded`
