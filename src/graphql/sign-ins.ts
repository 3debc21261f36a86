import type { FastifyRequest } from 'fastify'
import { clientErrorOf } from '../db/errors.ts'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import type { Subject } from '../users/subject.ts'
import { type Subjects, standInOf } from '../users/subjects.ts'
import type { Authenticate } from './auth.ts'
import { requestError } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined before its token is verified. */
    signIn: Promise<SignIn | undefined> | undefined
  }
}

/** Who sends a request. */
export interface SignIn {
  readonly subject: Subject
  /** The account of the subject, or what stands for it before there is one. */
  readonly viewer: UserId
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
    const { subject } = signedIn
    return { subject, viewer: (await this.subjects.load(subject)) ?? standInOf(subject) }
  }
}
