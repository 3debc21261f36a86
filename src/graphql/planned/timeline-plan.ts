import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { type EngagementKind, viewerFields } from '../../engagement/kinds.ts'
import type { TimelineItem, TimelinePage, TimelineRequest } from '../../feed/timeline/page.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import { timeCursors } from '../../list/cursor.ts'
import { costOf, priceOperation } from '../cost.ts'
import { acceptEmptyVariables, withoutEmpty } from '../empty-values.ts'
import { needsCounts, projectionOf } from '../present.ts'
import { type Selection, selectionBelow } from '../selection.ts'
import type { TimelineArgs } from '../timeline-args.ts'
import { type Field, fieldsOf, type Scope, Unplanned } from './fields.ts'
import { type PostPlan, planPost, type ReaderFacts, type ShownPost } from './post-plan.ts'

/** A page to render. */
export interface PlannedPage extends TimelinePage {
  readonly reader: UserId
  readonly pollCursor: string | null
  readonly follows: (user: UserId) => boolean
  /** The kinds of which the reader has an entry in a post. Undefined if they were not needed. */
  readonly viewerHas: (post: PostId) => ReadonlySet<EngagementKind> | undefined
  readonly shownOf: (item: TimelineItem) => ShownPost
  /** The pieces of a post under a plan. They may have been rendered before. */
  readonly renderPost: (plan: PostPlan, shown: ShownPost) => readonly string[]
}

/** How an operation with one timeline is answered without graphql-js. */
export interface TimelinePlan {
  readonly selection: Selection
  /** The parts of a page that are selected. */
  readonly needs: Omit<TimelineRequest, 'window' | 'strategy' | 'group'>
  /**
   * The arguments and the cost of the operation.
   * @returns undefined if only graphql-js and its plugins answer such variables.
   */
  readonly prepare: (
    variables: Readonly<Record<string, unknown>>,
  ) => { readonly args: TimelineArgs; readonly cost: number } | undefined
  /** Renders an answer. */
  readonly render: (page: PlannedPage, cost: number, costMax: number) => Promise<string>
}

/** Plans an operation of a valid document. @returns undefined if only graphql-js answers it. */
export function planTimeline(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): TimelinePlan | undefined {
  const [node, ...others] = operation.selectionSet.selections
  if (operation.operation !== 'query' || node?.kind !== Kind.FIELD || others.length > 0)
    return undefined
  if (node.name.value !== 'timeline' || hasDirectives(document)) return undefined
  const fragments = Object.fromEntries(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
    ),
  )
  try {
    return planOf({ schema, fragments }, operation, node)
  } catch (error) {
    if (error instanceof Unplanned) return undefined
    throw error
  }
}

function hasDirectives(document: DocumentNode): boolean {
  let directives = 0
  visit(document, { Directive: () => void directives++ })
  return directives > 0
}

function planOf(scope: Scope, operation: OperationDefinitionNode, node: FieldNode): TimelinePlan {
  const { schema } = scope
  const definition = schema.getQueryType()?.getFields().timeline
  if (!definition) throw new Unplanned()
  const type = getNamedType(definition.type)
  const key = (node.alias ?? node.name).value
  const steps = stepsOf(scope, { key, name: 'timeline', type, isLeaf: false, nodes: [node] })
  const selection = selectionBelow({ ...scope, variableValues: {} }, type, [node])
  const post = selection.of('edges', 'node')
  const definitions = operation.variableDefinitions ?? []
  const costs = new CostMemory()
  return {
    selection,
    needs: {
      projection: projectionOf(post),
      counts: needsCounts(post),
      viewerHas: post.has(...viewerFields.keys()),
      pending: selection.has('pending'),
      watermark: selection.has('pollCursor'),
    },
    prepare: (given) => {
      const variables = acceptEmptyVariables(schema, definitions, given)
      const { coerced } = getVariableValues(schema, definitions, variables, { maxErrors: 1 })
      if (!coerced) return undefined
      const args = argumentsOf(() => getArgumentValues(definition, node, coerced))
      if (!args) return undefined
      const accepted = withoutEmpty(definition.args, args) as TimelineArgs
      const cost = costs.costOf(accepted, () => {
        const fragments = Object.values(scope.fragments)
        const price = priceOperation({ schema, operation, fragments, variables: coerced })
        // The cost of several reads depends on the number of followees.
        return price.timelines > 1 ? undefined : costOf(price, 0)
      })
      return cost === undefined ? undefined : { args: accepted, cost }
    },
    render: async (page, cost, costMax) => {
      const to = new Writer()
      to.add(`{"data":{${JSON.stringify(key)}:`)
      for (const step of steps) await step(to, page)
      to.add(`},"extensions":{"cost":{"requested":${cost},"limit":${costMax}}}}\n`)
      return to.text
    },
  }
}

function argumentsOf<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The costs of a plan by what decides them: the size of the page, and on which sides it is bounded. */
class CostMemory {
  private readonly costs = new Map<string, number | undefined>()

  costOf({ first, last, after, before }: TimelineArgs, compute: () => number | undefined) {
    const key = JSON.stringify([first, last, after != null, before != null])
    if (this.costs.has(key)) return this.costs.get(key)
    const cost = compute()
    // A client asks for few sizes.
    if (this.costs.size < 100) this.costs.set(key, cost)
    return cost
  }
}

/** An answer while it is written. */
class Writer {
  text = ''

  add(text: string): void {
    this.text += text
  }
}

/** Writes a part of an answer. A promise only where a probe reads. */
type Step = (to: Writer, page: PlannedPage) => void | Promise<void>

const literal =
  (text: string): Step =>
  (to) =>
    to.add(text)

/** The steps of an object with some fields. */
const objectSteps = (fields: readonly Field[], stepsFor: (field: Field) => readonly Step[]) => [
  ...fields.flatMap((field, at) => [
    literal(`${at === 0 ? '{' : ','}${JSON.stringify(field.key)}:`),
    ...stepsFor(field),
  ]),
  literal('}'),
]

const value =
  (read: (page: PlannedPage) => unknown): Step =>
  (to, page) =>
    to.add(JSON.stringify(read(page) ?? null))

const stepsOf = (scope: Scope, timeline: Field): readonly Step[] =>
  objectSteps(fieldsOf(scope, timeline), (field) => {
    if (field.name === 'edges') return [edgesStep(scope, field)]
    if (field.name === 'pageInfo')
      return objectSteps(fieldsOf(scope, field), ({ name }) => [pageInfoStep(name)])
    const read = timelineValues[field.name]
    if (!read) throw new Unplanned()
    return [value(read)]
  })

const timelineValues: Readonly<Record<string, (page: PlannedPage) => unknown>> = {
  __typename: () => 'TimelineConnection',
  strategy: ({ strategy }) => strategy,
  servedBy: ({ servedBy }) => servedBy,
  pending: ({ pending }) => pending,
  pollCursor: ({ pollCursor }) => pollCursor,
}

function pageInfoStep(name: string): Step {
  const probe = pageInfoProbes[name]
  if (probe) {
    return async (to, page) => to.add(String(await probe(page)))
  }
  const read = pageInfoValues[name]
  if (!read) throw new Unplanned()
  return value(read)
}

const pageInfoProbes: Readonly<Record<string, (page: PlannedPage) => boolean | Promise<boolean>>> =
  {
    hasNextPage: ({ hasNextPage }) => hasNextPage(),
    hasPreviousPage: ({ hasPreviousPage }) => hasPreviousPage(),
  }

const cursorOf = (item: TimelineItem | undefined) => item && timeCursors.encode(item.at)

const pageInfoValues: Readonly<Record<string, (page: PlannedPage) => unknown>> = {
  __typename: () => 'PageInfo',
  startCursor: ({ items }) => cursorOf(items[0]),
  endCursor: ({ items }) => cursorOf(items.at(-1)),
}

type EdgeStep = (to: Writer, item: TimelineItem, page: PlannedPage) => void

function edgesStep(scope: Scope, edges: Field): Step {
  const steps = fieldsOf(scope, edges).map((field, at): EdgeStep => {
    const before = `${at === 0 ? '' : ','}${JSON.stringify(field.key)}:`
    if (field.name === '__typename') return (to) => to.add(`${before}"TimelineEdge"`)
    if (field.name === 'cursor')
      return (to, { at: place }) => to.add(`${before}"${timeCursors.encode(place)}"`)
    if (field.name !== 'node') throw new Unplanned()
    const plan = planPost(scope, field)
    return (to, item, page) => {
      to.add(before)
      writePost(to, plan, item, page)
    }
  })
  return (to, page) => {
    to.add('[')
    page.items.forEach((item, at) => {
      to.add(at === 0 ? '{' : ',{')
      for (const step of steps) step(to, item, page)
      to.add('}')
    })
    to.add(']')
  }
}

function writePost(to: Writer, plan: PostPlan, item: TimelineItem, page: PlannedPage): void {
  const shown = page.shownOf(item)
  const { id, author } = shown.post
  const facts: ReaderFacts = {
    reader: page.reader,
    followsAuthor: page.follows(author),
    viewerHas: page.viewerHas(id),
  }
  const pieces = page.renderPost(plan, shown)
  pieces.forEach((piece, at) => {
    to.add(piece)
    const gap = plan.gaps[at]
    if (gap) to.add(gap(shown, facts))
  })
}
