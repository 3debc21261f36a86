import type { DocumentNode } from 'graphql'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import type { Services } from '../services.ts'
import type { Role, Subject } from '../users/subject.ts'
import type { Keeping } from './kept-answers.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import { type Charge, clientOf, crowdOf, type RateLimitState } from './rate-limit.ts'

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
  readonly ip: string
  readonly keeping?: Keeping | undefined
  readonly read?: ReadDocument | undefined
}

/** Who sends a request. */
export interface SignIn {
  /** The account of the subject, or what stands for it before there is one. */
  readonly viewer: UserId
  readonly subject: Subject
  readonly roles: ReadonlySet<Role>
}

const noRoles: ReadonlySet<Role> = new Set()

/** The state that all resolvers of one request share. */
export class Context {
  /** Not a #private field: Apollo copies the context of each request. */
  private current: Loaders | undefined
  readonly requestId: string
  /** Whether the answer may be kept, and under which versions. */
  readonly keeping: Keeping | undefined
  /** The document that is executed. */
  readonly read: ReadDocument | undefined
  /** The client in the rate limits. */
  readonly client: string
  /** The signed-in requests that this one shares the limits of its address with. Undefined for an anonymous request. */
  readonly crowd: string | undefined
  /** What the rate limit leaves to the client. Undefined without a limit. */
  rateLimit: RateLimitState | undefined
  /** The input of the mutation that runs, as it was sent. */
  sentInput: unknown

  /** The account of the verified token's subject, never an argument (law L6). Undefined for an anonymous request. */
  viewer: UserId | undefined

  constructor(
    readonly services: Services,
    /** Undefined for an anonymous request. */
    private readonly signIn: SignIn | undefined,
    { id, ip, keeping, read }: RequestParts,
    /** Notifies the worker of this process of a committed job. */
    readonly nudge: () => void,
  ) {
    const viewer = signIn?.viewer
    this.viewer = viewer
    this.requestId = id
    this.keeping = keeping
    this.read = read
    this.client = clientOf(viewer, ip)
    this.crowd = crowdOf(viewer, ip)
  }

  get loaders(): Loaders {
    this.current ??= createLoaders(this.services, this.viewer, this.keeping?.stamping)
    return this.current
  }

  /** Drops the loaders, so that reads after a mutation see its effect. */
  forget(): void {
    this.current = undefined
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

  /** The roles of the verified token. Empty for an anonymous request. */
  get roles(): ReadonlySet<Role> {
    return this.signIn?.roles ?? noRoles
  }

  /** The subject of the verified token. @throws {DomainError} UNAUTHENTICATED for an anonymous request. */
  requireSubject(): Subject {
    return this.signIn?.subject ?? signInFirst()
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
