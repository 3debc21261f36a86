import { Command, Option } from 'commander'
import { SignJWT } from 'jose'
import { ConfigError } from '../config.ts'
import { configFor } from '../environment.ts'
import { badInput } from '../errors.ts'
import type { AuthConfig } from '../sign-in.ts'
import { isSubject, type Scope, scopeNames, subjectRule } from '../users/subject.ts'
import { durationSeconds } from './numbers.ts'

interface TokenOptions {
  readonly expires: number
  readonly scope?: Scope
  readonly json?: true
}

/** `feedline token SUBJECT`: prints a token of a subject. */
export const tokenCommand = (): Command =>
  new Command('token')
    .description('Print a token of a user, signed with AUTH_JWT_SECRET.')
    .argument('<subject>', 'the user of the token; the account may not exist yet')
    .option(
      '--expires <duration>',
      'lifetime of the token: seconds, or e.g. 15m, 1h, 7d',
      durationSeconds,
      3_600,
    )
    .addOption(
      new Option('--scope <scope>', 'a scope of the token: act-for is of servers').choices(
        scopeNames,
      ),
    )
    .option('--json', 'print one JSON object: token, subject, expiresAt')
    .addHelpText(
      'after',
      `
Send the token as "Authorization: Bearer <token>". It contains AUTH_ISSUER and the first of
AUTH_AUDIENCE if they are set.

Example:
  $ AUTH_JWT_SECRET=... feedline token ann --expires 7d`,
    )
    .action(async (subject: string, { expires, scope, json }: TokenOptions) => {
      const expiresAt = new Date((Math.floor(Date.now() / 1000) + expires) * 1000)
      const token = await signToken(configFor('none').auth, { subject, expiresAt, scope })
      console.log(
        json ? JSON.stringify({ token, subject, expiresAt: expiresAt.toISOString() }) : token,
      )
    })

/** What a token of {@link signToken} says. */
interface TokenContent {
  readonly subject: string
  readonly expiresAt: Date
  readonly scope?: Scope | undefined
}

/**
 * Signs a token that this configuration's server accepts until `expiresAt`.
 * @throws {ConfigError} without a secret; {DomainError} BAD_USER_INPUT for what is no subject.
 */
export async function signToken(
  { main }: AuthConfig,
  { subject, expiresAt, scope }: TokenContent,
): Promise<string> {
  if (!isSubject(subject)) throw badInput('subject', subjectRule)
  if (main?.secret === undefined) {
    throw new ConfigError([
      main === undefined
        ? 'AUTH_JWT_SECRET: must be set to sign tokens'
        : 'AUTH_JWT_SECRET: must be set to sign tokens. The owner of the keys at AUTH_JWKS_URL issues all other tokens.',
    ])
  }
  const { secret, issuer, audience, algorithms, subjectClaim } = main
  const [alg = 'HS256'] = algorithms
  const jwt = new SignJWT({ [subjectClaim]: subject, ...(scope && { scope }) })
    .setProtectedHeader({ alg, typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime(expiresAt)
  if (issuer !== undefined) jwt.setIssuer(issuer)
  if (audience[0] !== undefined) jwt.setAudience(audience[0])
  return jwt.sign(new TextEncoder().encode(secret))
}
