import type { Collections } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { shown } from '../lib/shown.ts'
import { type AuthConfig, findIssuer } from '../sign-in.ts'

/** How many issuers a process looks for, and how many a warning shows. */
const [readsMax, shownMax] = [50, 5]

/**
 * How long a read may pass over subjects that are only held, which may be many after a rush of new
 * accounts.
 */
const readMsMax = 1_000

/**
 * The issuers of stored accounts in order, empty for accounts without one. One command for each, at
 * most 50: each reads one key, beside those that are only held for a time.
 */
export async function findStoredIssuers({
  subjects,
}: Pick<Collections, 'subjects'>): Promise<readonly string[]> {
  const issuers: string[] = []
  let from = ''
  for (let reads = 0; reads < readsMax; reads++) {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit: 1, maxTimeMS: readMsMax }
    const accountsFrom = { _id: { $gte: from }, until: { $exists: false } }
    const [first] = await findAtOnce(subjects, accountsFrom, options)
    if (!first) break
    const [issuer = '', ...rest] = first._id.split(' ')
    if (rest.length > 0) issuers.push(issuer)
    // The next character after the space of a key. No issuer has a space.
    from = rest.length > 0 ? `${issuer}!` : `${first._id}\u0000`
  }
  return issuers
}

/**
 * Lines for the operator about issuers that no variable names: those of tokens of AUTH_JWKS_URL,
 * and those of stored accounts. The commands of {@link findStoredIssuers}, whose failure is no
 * failure of a start.
 */
export async function issuerWarnings(
  collections: Pick<Collections, 'subjects'>,
  auth: AuthConfig,
): Promise<readonly string[]> {
  const stored = await findStoredIssuers(collections).catch(() => [])
  return [unsetIssuer(auth), unnamedIssuers(auth, stored)].filter((line) => line !== undefined)
}

function unsetIssuer({ main }: AuthConfig): string | undefined {
  if (main?.jwksUrl === undefined || main.issuer !== undefined) return undefined
  return 'AUTH_JWKS_URL verifies no token with "iss" without AUTH_ISSUER. Set it to the "iss" of your tokens'
}

function unnamedIssuers(auth: AuthConfig, stored: readonly string[]): string | undefined {
  const { main, dev } = auth
  const isNamed = (iss: string) =>
    iss === '' ? main !== undefined || dev : findIssuer(auth, iss) !== undefined
  const unnamed = stored.filter((iss) => !isNamed(iss))
  if (unnamed.length === 0) return undefined
  const names = unnamed.slice(0, shownMax).map((iss) => (iss === '' ? 'no issuer' : shown(iss)))
  const more = unnamed.length > shownMax ? ` and ${unnamed.length - shownMax} more` : ''
  return (
    `The database has accounts of ${names.join(', ')}${more}, which no variable names: their users cannot sign in. ` +
    'Set AUTH_ISSUER or AUTH_ISSUERS, or if the text of "iss" has changed, AUTH_FORMER_ISSUERS or formerIssuers'
  )
}
