import type { BrowserContext } from 'playwright-core'
import { type Claims, type Provider, sign } from '../support/providers.ts'
import { now } from '../support/sign-in.ts'

/** The address of the module, as a site sets it. */
export const signInPath = '/sign-in.js'

/** The part of an SDK that a site adapts. */
const adapter = `
export const getToken = async () => (await callProvider('getToken')) ?? undefined
export const signIn = () => callProvider('signIn')
export const signOut = () => callProvider('signOut')
`

/** A provider, with a browser's session at it. */
export class ProviderSession {
  /** Who signs in next. */
  next: Claims
  /** Who is signed in. */
  current: Claims | undefined
  /** How many of the next tokens have ended before they are sent. */
  ended = 0

  constructor(private readonly provider: Provider) {
    this.next = { sub: provider.claims.sub }
  }

  /** A token of the next person. */
  readonly token = (): string => this.sign(this.next)

  /** Lets the pages of a browser sign in. */
  readonly serve = async (context: BrowserContext): Promise<void> => {
    await context.exposeFunction('callProvider', (name: 'getToken' | 'signIn' | 'signOut') =>
      this[name](),
    )
    await context.route(`**${signInPath}`, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: adapter }),
    )
  }

  private getToken(): string | null {
    if (!this.current) return null
    if (this.ended === 0) return this.sign(this.current)
    this.ended--
    return this.sign({ ...this.current, exp: now() - 60 })
  }

  /**
   * Signs a token of a person, whose `sub` is also in the claim that names the person for all apps.
   */
  private sign(person: Claims): string {
    const { oid } = this.provider.claims
    return sign(this.provider, { ...person, ...(oid !== undefined && { oid: person.sub }) })
  }

  private signIn(): void {
    this.current = this.next
  }

  private signOut(): void {
    this.current = undefined
  }
}
