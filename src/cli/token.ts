import { Command, InvalidArgumentError, Option } from 'commander'
import { configFor } from '../environment.ts'
import { type Role, roleNames, type Scope, scopeNames } from '../users/subject.ts'
import { durationSeconds } from './numbers.ts'
import { signAcceptedToken } from './sign-token.ts'

interface TokenOptions {
  readonly expires: number
  readonly issuer?: string
  readonly roles?: readonly Role[]
  readonly scope?: Scope
  readonly json?: true
}

/** Reads roles with commas between them, in any case. */
function parseRoles(text: string): readonly Role[] {
  const names = text.split(',').map((name) => name.trim().toUpperCase())
  const roles = roleNames.filter((role) => names.includes(role))
  if (roles.length === new Set(names).size) return roles
  throw new InvalidArgumentError(`It must be of ${roleNames.join(', ')}.`)
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
    .option('--roles <roles>', 'the roles in AUTH_ROLES_CLAIM, e.g. MODERATOR,ADMIN', parseRoles)
    .addOption(
      new Option('--scope <scope>', 'a scope of the token: act-for is of servers').choices(
        scopeNames,
      ),
    )
    .option('--issuer <iss>', 'an issuer of AUTH_ISSUERS with a secret, which signs instead')
    .option('--json', 'print one JSON object: token, subject, expiresAt')
    .addHelpText(
      'after',
      `
Send the token as "Authorization: Bearer <token>". A server of the same variables accepts it. The
command says why if they allow no such token.

Examples:
  $ AUTH_JWT_SECRET=... feedline token ann --expires 7d
  $ AUTH_JWT_SECRET=... AUTH_ROLES_CLAIM=realm_access.roles feedline token ann --roles ADMIN`,
    )
    .action(async (subject: string, { expires, json, ...content }: TokenOptions) => {
      const expiresAt = new Date((Math.floor(Date.now() / 1000) + expires) * 1000)
      const { auth } = configFor('none')
      const token = await signAcceptedToken(auth, { ...content, subject, expiresAt })
      console.log(
        json ? JSON.stringify({ token, subject, expiresAt: expiresAt.toISOString() }) : token,
      )
    })
