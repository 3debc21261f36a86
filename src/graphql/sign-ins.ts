import type { FastifyRequest } from 'fastify'
import { clientErrorOf } from '../db/errors.ts'
import { DomainError } from '../errors.ts'
import { isGraphql } from '../http/graphql-route.ts'
import type { RequestScope } from '../request-scope.ts'
import type { ActsFor, SignedIn, Subject } from '../users/subject.ts'
import { isSubjectOf, type Subjects, standInOf, subjectKey } from '../users/subjects.ts'
import type { Users } from '../users/users.ts'
import { actForHeader, parseActFor, refusedActing } from './act-for.ts'
import type { Authenticate } from './auth.ts'
import type { Sender, SignIn } from './context.ts'
import { requestError } from './errors.ts'
import { commandPrice } from './prices.ts'
import { clientOf, type RateLimiter } from './rate-limit.ts'
import type { RefusalLog } from './refusal-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined before its token is looked at, and without one. */
    signedIn: SignedIn | Promise<SignedIn | undefined> | undefined
    /** Undefined before its account is looked up. */
    sender: Promise<Sender> | undefined
  }
}

/** What {@link SignIns} looks accounts up with. */
interface SignInServices {
  readonly subjects: Pick<Subjects, 'load'>
  readonly users: Pick<Users, 'subjectOf'>
}

/**
 * Who sends each request: its token is verified once, and its account is looked up once. A token
 * with the scope `act-for` may name the user that the request acts for, instead of its own subject.
 * No other token may.
 */
export class SignIns {
  constructor(
    private readonly authenticate: Authenticate,
    private readonly services: SignInServices,
    private readonly limiter: Pick<RateLimiter, 'charge'>,
    private readonly refusals: Pick<RefusalLog, 'note'>,
  ) {}

  /**
   * Verifies the token of a request to /graphql before the request takes a place, since the token
   * may wait for keys.
   * @returns undefined if there is nothing to wait for.
   */
  prepare(request: FastifyRequest): Promise<unknown> | undefined {
    const hasToken = request.headers.authorization !== undefined
    const signedIn = hasToken && isGraphql(request) ? this.verify(request) : undefined
    return signedIn instanceof Promise ? signedIn : undefined
  }

  /**
   * What the token of a request says, at once if it can. No command. The log learns why a token is
   * refused. Rejects with {DomainError} UNAUTHENTICATED, or UNAVAILABLE without the keys that
   * verify it.
   */
  verify(request: FastifyRequest): SignedIn | undefined | Promise<SignedIn | undefined> {
    request.signedIn ??= this.read(request)
    return request.signedIn
  }

  private read(request: FastifyRequest): SignedIn | undefined | Promise<SignedIn | undefined> {
    const { authorization = [] } = request.raw.headersDistinct
    const refuse = (error: unknown): never => {
      this.refusals.note(error, request.id)
      throw error
    }
    try {
      const signedIn = this.authenticate(authorization)
      return signedIn instanceof Promise ? signedIn.catch(refuse) : signedIn
    } catch (error) {
      return Promise.reject(error).catch(refuse)
    }
  }

  /**
   * The sender of a request, which the log then knows. The commands of {@link Subjects.load}:
   * mostly none. One command if a server acts for an account by its id.
   * @throws {GraphQLError} with the status of UNAUTHENTICATED, UNAVAILABLE, or what is wrong with
   *   Feedline-Act-For: FORBIDDEN without the scope, BAD_REQUEST, NOT_FOUND without the account, or
   *   RATE_LIMITED.
   */
  find(request: FastifyRequest): Promise<Sender> {
    request.sender ??= this.readSender(request).catch((error: unknown) => {
      const known = error instanceof DomainError ? error : clientErrorOf(error)
      throw known ? requestError(known) : error
    })
    return request.sender
  }

  private async readSender(request: FastifyRequest): Promise<Sender> {
    const { raw, ip, scope } = request
    const { [actForHeader]: actFor = [] } = raw.headersDistinct
    const signedIn = await this.verify(request)
    if (!signedIn && actFor.length > 0) {
      throw refusedActing('UNAUTHENTICATED', 'send the token of the server in Authorization')
    }
    const signIn = signedIn && (await this.signInOf(signedIn, actFor, scope))
    if (scope) scope.viewer = signIn?.viewer
    return { signIn, client: clientOf(signIn, ip) }
  }

  private async signInOf(
    { subject, roles, actsFor }: SignedIn,
    actFor: readonly string[],
    scope: RequestScope | null,
  ): Promise<SignIn> {
    const server = actsFor && subject
    if (actFor.length === 0) {
      const viewer = await this.viewerOf(subject)
      return { subject, roles, viewer, server, actsFor, isActing: false, isByAccount: false }
    }
    if (!server)
      throw refusedActing('FORBIDDEN', 'the token has no scope "act-for", or its issuer no actFor')
    if (scope) scope.actor = subjectKey(server)
    const user = await this.userOf(server, actsFor, actFor)
    return { ...user, roles: new Set(), server, actsFor, isActing: true }
  }

  /** The user that a server acts for. */
  private async userOf(
    server: Subject,
    actsFor: ActsFor,
    headers: readonly string[],
  ): Promise<Pick<SignIn, 'subject' | 'viewer' | 'isByAccount'>> {
    const named = parseActFor(headers)
    if ('sub' in named) {
      const subject = { ...actsFor[0], sub: named.sub }
      return { subject, viewer: await this.viewerOf(subject), isByAccount: false }
    }
    // Charged before it is read, because a server may name any number of accounts that do not
    // exist.
    const client = clientOf({ viewer: standInOf(server), server, isActing: false }, '')
    const charge = await this.limiter.charge(client, { cost: commandPrice, mutations: 0 })
    if (charge?.refusal) throw charge.refusal
    const subject = await this.services.users.subjectOf(named.account)
    // The same for an account of another issuer, so that a server learns nothing of it.
    if (subject === undefined || !actsFor.some((issuer) => isSubjectOf(subject, issuer)))
      throw refusedActing('NOT_FOUND', 'no account of its users has this id')
    return { subject, viewer: named.account, isByAccount: true }
  }

  private async viewerOf(subject: Subject) {
    return (await this.services.subjects.load(subject)) ?? standInOf(subject)
  }
}
