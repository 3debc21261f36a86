import type { UserId } from '../../lib/ids.ts'
import type { Services } from '../../services.ts'
import type { RequestState } from '../request-state.ts'

/** What plans read with. */
export type PlannedServices = Pick<Services, 'feed' | 'news' | 'keptPosts'>

/** Reads and renders JSON for a viewer. Undefined if only graphql-js renders it. */
export type Answer = (viewer: UserId, state: RequestState) => Promise<string | undefined>

/** How a field of Query is answered without graphql-js. */
export interface FieldPlan<Args> {
  /** What decides the cost of valid arguments. */
  readonly decidesCost: (args: Args) => readonly unknown[]
  /** The answer to arguments. @throws for arguments that the resolver refuses. */
  readonly prepare: (args: Args, services: PlannedServices) => Answer
}
