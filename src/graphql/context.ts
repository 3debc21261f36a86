import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentNode } from 'graphql'
import { deriveId } from '../db/idempotency.ts'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import type { Services } from '../services.ts'
import { provenAccount } from '../users/stats.ts'
import type { ActsFor, Role, Subject, SubjectIssuer } from '../users/subject.ts'
import { subjectKey } from '../users/subjects.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import type { Charge, Charged, Client, RateLimitState } from './rate-limit.ts'
import type { RequestState } from './request-state.ts'

/** The document of a request. */
export interface ReadDocument {
  /** Undefined if the server has no document of the name that the request has. */
  readonly document: DocumentNode | undefined
  /** The text of a trusted document. Undefined: Apollo finds the text. */
  readonly trustedText: string | undefined
  /** The cost that was charged for reading the document. */
  readonly paid: number
  readonly charge: Charge | undefined
}

/** What a context takes from its request. */
interface RequestParts {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly state?: RequestState | undefined
  readonly read?: ReadDocument | undefined
}

/** The viewer of a request. */
export interface SignIn extends Charged {
  /** The account of the subject, or what stands for it before there is one. */
  readonly viewer: UserId
  readonly subject: Subject
  /** Whose accounts a server may act for, as {@link ActsFor}. Undefined for other senders. */
  readonly actsFor: ActsFor | undefined
  /** Whether a server named the account, and so knows that there is one. */
  readonly isByAccount: boolean
  readonly roles: ReadonlySet<Role>
}

/** Who sends a request. */
export interface Sender {
  /** Undefined for an anonymous request. */
  readonly signIn: SignIn | undefined
  /** Who is charged for it. */
  readonly client: Client
}

const noRoles: ReadonlySet<Role> = new Set()

/** The state that all resolvers of one request share. */
export class Context {
  /** Not a #private field: Apollo copies the context of each request. */
  private current: Loaders | undefined
  readonly requestId: string
  /** The header Accept. */
  readonly accept: string | undefined
  /** What earlier steps noted about the request. */
  readonly state: RequestState | undefined
  /** The document that is executed. */
  readonly read: ReadDocument | undefined
  /** The client in the rate limits. */
  readonly client: Client
  /** What the rate limit leaves to the client. Undefined without a limit. */
  rateLimit: RateLimitState | undefined

  /**
   * The account of the verified token's subject, or the one that its server acts for. Never an
   * argument (law L6). Undefined for an anonymous request.
   */
  viewer: UserId | undefined

  private readonly signIn: SignIn | undefined

  constructor(
    readonly services: Services,
    { signIn, client }: Sender,
    { id, headers, state, read }: RequestParts,
    /** Notifies the worker of this process of a committed job. */
    readonly nudge: () => void,
  ) {
    this.signIn = signIn
    this.viewer = signIn?.viewer
    this.requestId = id
    this.accept = headers.accept
    this.state = state
    this.read = read
    this.client = client
  }

  get loaders(): Loaders {
    this.current ??= createLoaders(this.services, this.viewer)
    return this.current
  }

  /** Drops the loaders, so that reads after a mutation see its effect. */
  forget(): void {
    this.current = undefined
  }

  /**
   * Notes that users are live, which a transaction or a read has proven. Saves the read of an
   * account that holds no more.
   */
  noteLive(users: readonly UserId[]): void {
    for (const user of users) {
      const account = provenAccount(user)
      if (account) this.loaders.live.prime(user, account)
    }
  }

  /** The number of the viewer's followees. Zero for an anonymous request. At most one command. */
  async countFollowees(): Promise<number> {
    if (this.viewer === undefined) return 0
    return (await this.loaders.stats.load(this.viewer))?.following ?? 0
  }

  /** @throws {DomainError} UNAUTHENTICATED for an anonymous request. */
  requireViewer(): UserId {
    return this.viewer ?? signInFirst()
  }

  /**
   * The roles of the verified token. Empty for an anonymous request, and if a server acts for the
   * viewer.
   */
  get roles(): ReadonlySet<Role> {
    return this.signIn?.roles ?? noRoles
  }

  /**
   * The subject of the viewer, as {@link SignIn.subject}. @throws {DomainError} UNAUTHENTICATED for
   * an anonymous request.
   */
  requireSubject(): Subject {
    return (this.signIn ?? signInFirst()).subject
  }

  /**
   * The subject that may get an account. Undefined if a server acts for an account by its id.
   * @throws {DomainError} UNAUTHENTICATED for an anonymous request.
   */
  newSubject(): Subject | undefined {
    const { subject, isByAccount } = this.signIn ?? signInFirst()
    return isByAccount ? undefined : subject
  }

  /**
   * A server that may act for users, and acts for none in this request, and whose subjects its
   * users are.
   * @throws {DomainError} UNAUTHENTICATED for an anonymous request; FORBIDDEN for any other token,
   *   and a user's request.
   */
  requireServer(): { readonly server: Subject; readonly actsFor: SubjectIssuer } {
    const { server, actsFor, isActing } = this.signIn ?? signInFirst()
    if (server && actsFor && !isActing) return { server, actsFor: actsFor[0] }
    throw new DomainError(
      'FORBIDDEN',
      'Only a server may do this: send a token with the scope "act-for", without Feedline-Act-For',
    )
  }

  /**
   * The clientMutationId of the viewer's idempotency key. One that a server sends for a user is
   * never that of the user, nor of another server.
   */
  scopedId(clientMutationId: string | undefined): string | undefined {
    const { server, isActing = false } = this.signIn ?? {}
    return isActing && server && clientMutationId !== undefined
      ? deriveId(clientMutationId, subjectKey(server))
      : clientMutationId
  }

  /** Goes on as the account that the subject of this request got. */
  enterAccount(account: UserId): void {
    this.viewer = account
    this.forget()
  }
}

function signInFirst(): never {
  throw new DomainError('UNAUTHENTICATED', 'Sign in first: send an Authorization header')
}
