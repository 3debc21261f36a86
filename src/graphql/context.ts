import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import type { Services } from '../services.ts'
import { createLoaders, type Loaders } from './loaders.ts'

/** What every resolver of one request shares. */
export class Context {
  /** Not a #private field: Apollo copies the context of each request. */
  private current: Loaders | undefined

  constructor(
    readonly services: Services,
    /** Who acts: the verified token's subject, never an argument (law L6). */
    readonly viewer: UserId | undefined,
    readonly requestId: string,
    /** Tells the worker of this process that a job was just committed. */
    readonly nudge: () => void,
  ) {}

  get loaders(): Loaders {
    this.current ??= createLoaders(this.services, this.viewer)
    return this.current
  }

  /** Forgets what was read, so that what follows a mutation sees its effect. */
  forget(): void {
    this.current = undefined
  }

  /** @throws {DomainError} UNAUTHENTICATED when nobody is signed in. */
  requireViewer(): UserId {
    if (this.viewer === undefined) {
      throw new DomainError('UNAUTHENTICATED', 'Sign in first: send an Authorization header')
    }
    return this.viewer
  }
}
