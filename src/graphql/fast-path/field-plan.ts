import type { UserId } from '../../lib/ids.ts'
import type { Services } from '../../services.ts'
import type { Context } from '../context.ts'

/** What plans read with. */
export type PlannedServices = Pick<Services, 'feed' | 'news' | 'keptPosts'>

/** Reads and renders JSON for the viewer of a request. Undefined if only graphql-js answers it. */
export type Answer = (ctx: Context, viewer: UserId) => Promise<string | undefined>

/** The variables of an operation, as the client sent them. */
export type Variables = Readonly<Record<string, unknown>>

/** How a field of Query is answered without graphql-js. */
export interface FieldPlan<Args> {
  /** Whether graphql-js executes some of the fields below. */
  readonly isPartial: boolean
  /** What decides the cost of valid arguments. Undefined: any variable may. */
  readonly decidesCost: (args: Args) => readonly unknown[] | undefined
  /** The answer to arguments. @throws for arguments that the resolver refuses. */
  readonly prepare: (args: Args, services: PlannedServices, variables: Variables) => Answer
}
