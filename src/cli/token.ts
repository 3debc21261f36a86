import { Command } from 'commander'
import { SignJWT } from 'jose'
import { ConfigError } from '../config.ts'
import { configFor } from '../environment.ts'
import { badInput } from '../errors.ts'
import { handleRule, parseUserId, type UserId } from '../lib/ids.ts'
import type { AuthConfig } from '../sign-in.ts'
import { durationSeconds } from './numbers.ts'

interface TokenOptions {
  readonly expires: number
  readonly json?: true
}

/** `feedline token HANDLE`: prints a token for a user. */
export const tokenCommand = (): Command =>
  new Command('token')
    .description('Print a token for a user, signed with AUTH_JWT_SECRET.')
    .argument('<handle>', 'handle of the user; the account may not exist yet')
    .option(
      '--expires <duration>',
      'lifetime of the token: seconds, or e.g. 15m, 1h, 7d',
      durationSeconds,
      3_600,
    )
    .option('--json', 'print one JSON object: token, handle, expiresAt')
    .addHelpText(
      'after',
      `
Send the token as "Authorization: Bearer <token>". It contains AUTH_ISSUER and the first of
AUTH_AUDIENCE if they are set.

Example:
  $ AUTH_JWT_SECRET=... feedline token ann --expires 7d`,
    )
    .action(async (handle: string, { expires, json }: TokenOptions) => {
      const expiresAt = new Date((Math.floor(Date.now() / 1000) + expires) * 1000)
      const token = await signToken(configFor('none').auth, handle, expiresAt)
      console.log(
        json ? JSON.stringify({ token, handle, expiresAt: expiresAt.toISOString() }) : token,
      )
    })

/**
 * Signs a token that this configuration's server accepts until `expiresAt`.
 * @throws {ConfigError} without a secret; {DomainError} BAD_USER_INPUT if `handle` is not a handle.
 */
export async function signToken(
  { main }: AuthConfig,
  handle: string,
  expiresAt: Date,
): Promise<string> {
  const subject: UserId | undefined = parseUserId(handle)
  if (subject === undefined) throw badInput('handle', `"${handle}" is not a handle: ${handleRule}`)
  if (main?.secret === undefined) {
    throw new ConfigError([
      main === undefined
        ? 'AUTH_JWT_SECRET: must be set to sign tokens'
        : 'AUTH_JWT_SECRET: must be set to sign tokens. The owner of the keys at AUTH_JWKS_URL issues all other tokens.',
    ])
  }
  const { secret, issuer, audience, algorithms, subjectClaim } = main
  const [alg = 'HS256'] = algorithms
  const jwt = new SignJWT({ [subjectClaim]: subject })
    .setProtectedHeader({ alg, typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime(expiresAt)
  if (issuer !== undefined) jwt.setIssuer(issuer)
  if (audience[0] !== undefined) jwt.setAudience(audience[0])
  return jwt.sign(new TextEncoder().encode(secret))
}
