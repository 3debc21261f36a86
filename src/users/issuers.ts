import type { Collections } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { shown } from '../lib/shown.ts'
import { type AuthConfig, findIssuer } from '../sign-in.ts'

/** How many issuers a process looks for, and how many a warning shows. */
const [readsMax, shownMax] = [50, 5]

/**
 * The issuers of stored accounts in order, empty for accounts without one. One command for each, at most 50: each reads
 * one key.
 */
export async function findStoredIssuers({
  subjects,
}: Pick<Collections, 'subjects'>): Promise<readonly string[]> {
  const issuers: string[] = []
  let from = ''
  for (let reads = 0; reads < readsMax; reads++) {
    const options = { projection: { _id: 1 }, sort: { _id: 1 }, limit: 1 }
    const [first] = await findAtOnce(subjects, { _id: { $gte: from } }, options)
    if (!first) break
    const [issuer = '', ...rest] = first._id.split(' ')
    if (rest.length > 0) issuers.push(issuer)
    // The next character after the space of a key. No issuer has a space.
    from = rest.length > 0 ? `${issuer}!` : `${first._id}\u0000`
  }
  return issuers
}

/**
 * A line for the operator if the database has accounts of issuers that no variable names. Undefined without such accounts.
 * The commands of {@link findStoredIssuers}.
 */
export async function issuerWarning(
  collections: Pick<Collections, 'subjects'>,
  auth: AuthConfig,
): Promise<string | undefined> {
  const { main, dev } = auth
  const isNamed = (iss: string) =>
    iss === '' ? main !== undefined || dev : findIssuer(auth, iss) !== undefined
  const unnamed = (await findStoredIssuers(collections)).filter((iss) => !isNamed(iss))
  if (unnamed.length === 0) return undefined
  const names = unnamed.slice(0, shownMax).map((iss) => (iss === '' ? 'no issuer' : shown(iss)))
  const more = unnamed.length > shownMax ? ` and ${unnamed.length - shownMax} more` : ''
  return (
    `The database has accounts of ${names.join(', ')}${more}, which no variable names: their users cannot sign in. ` +
    'Set AUTH_ISSUER or AUTH_ISSUERS, or if the text of "iss" has changed, AUTH_FORMER_ISSUERS or formerIssuers'
  )
}
