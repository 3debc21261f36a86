import type { FastifyRequest } from 'fastify'
import { clientErrorOf } from '../db/errors.ts'
import { DomainError } from '../errors.ts'
import { type Subjects, standInOf } from '../users/subjects.ts'
import type { Authenticate } from './auth.ts'
import type { SignIn } from './context.ts'
import { requestError } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined before its token is verified. */
    signIn: Promise<SignIn | undefined> | undefined
  }
}

/** Who sends each request: its token is verified once, and its account is looked up once. */
export class SignIns {
  constructor(
    private readonly authenticate: Authenticate,
    private readonly subjects: Pick<Subjects, 'load'>,
  ) {}

  /**
   * Undefined for an anonymous request. The commands of {@link Subjects.load}: mostly none.
   * @throws {GraphQLError} with the status of UNAUTHENTICATED or UNAVAILABLE.
   */
  find(request: FastifyRequest): Promise<SignIn | undefined> {
    request.signIn ??= this.read(request).catch((error: unknown) => {
      const known = error instanceof DomainError ? error : clientErrorOf(error)
      throw known ? requestError(known) : error
    })
    return request.signIn
  }

  private async read({ raw }: FastifyRequest): Promise<SignIn | undefined> {
    const signedIn = await this.authenticate(raw.headersDistinct.authorization ?? [])
    if (!signedIn) return undefined
    const { subject, roles } = signedIn
    return { subject, roles, viewer: (await this.subjects.load(subject)) ?? standInOf(subject) }
  }
}
