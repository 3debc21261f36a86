import { timeCursors } from '../../pages/cursor.ts'
import { timelineNeedsOf } from '../../posts/api/present-posts.ts'
import type { TimelineArgs } from '../../timeline/api/timeline-args.ts'
import type { TimelineItem } from '../../timeline/pages/page.ts'
import { selectionBelow } from '../selection.ts'
import type { FieldPlan } from './field-plan.ts'
import { type Field, fieldsOf, type Scope, Unplanned } from './fields.ts'
import { type PlannedPage, placeOf, readPlannedPage } from './planned-page.ts'
import { type PostPlan, planPost, type ReaderFacts } from './post-plan.ts'
import { RestFields, type RestOfPost } from './rest-fields.ts'

/**
 * Plans the reads and the answer of a timeline. @throws {Unplanned} if only graphql-js answers it.
 */
export function planTimeline(scope: Scope, field: Field): FieldPlan<TimelineArgs> {
  const rest = new RestFields(scope, field)
  const steps = stepsOf(scope, field, rest)
  const needs = timelineNeedsOf(
    selectionBelow({ ...scope, variableValues: {} }, field.type, field.nodes),
  )
  return {
    isPartial: !rest.isEmpty,
    decidesCost: ({ first, last, after, before }) =>
      rest.isEmpty ? [first, last, after != null, before != null] : undefined,
    prepare: (args, services, variables) => {
      const { window, base, filter } = placeOf(services, args)
      const request = { window, ...filter, ...needs }
      return async (ctx, viewer) => {
        const read = await readPlannedPage(services, request, base, viewer)
        if (!read) return undefined
        const asked = { page: read, request, variables }
        const values = rest.isEmpty ? [] : await rest.execute(ctx, asked)
        if (!values) return undefined
        const page = { ...read, rest: values }
        const to = new Writer()
        for (const step of steps) await step(to, page)
        return to.text
      }
    },
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
type Step = (to: Writer, page: ShownPage) => void | Promise<void>

/** A page with the values of the fields of each post that have no plan. */
interface ShownPage extends PlannedPage {
  readonly rest: readonly RestOfPost[]
}

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

const stepsOf = (scope: Scope, timeline: Field, rest: RestFields): readonly Step[] =>
  objectSteps(fieldsOf(scope, timeline), (field) => {
    if (field.name === 'edges') return [edgesStep(scope, field, rest)]
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

type EdgeStep = (to: Writer, at: number, page: ShownPage) => void

function edgesStep(scope: Scope, edges: Field, rest: RestFields): Step {
  const steps = fieldsOf(scope, edges).map((field, at): EdgeStep => {
    const before = `${at === 0 ? '' : ','}${JSON.stringify(field.key)}:`
    if (field.name === '__typename') return (to) => to.add(`${before}"TimelineEdge"`)
    if (field.name === 'cursor')
      return (to, at, { items }) =>
        to.add(`${before}"${timeCursors.encode((items[at] as TimelineItem).at)}"`)
    if (field.name !== 'node') throw new Unplanned()
    const plan = planPost(scope, field)
    const name = plan.rest.length > 0 ? rest.add(plan.rest) : undefined
    return (to, at, page) => {
      to.add(before)
      writePost(to, plan, page, { at, rest: name ? page.rest[at]?.[name] : undefined })
    }
  })
  return (to, page) => {
    to.add('[')
    page.items.forEach((_, at) => {
      to.add(at === 0 ? '{' : ',{')
      for (const step of steps) step(to, at, page)
      to.add('}')
    })
    to.add(']')
  }
}

function writePost(
  to: Writer,
  plan: PostPlan,
  page: PlannedPage,
  { at, rest }: { readonly at: number; readonly rest: ReaderFacts['rest'] },
): void {
  const shown = page.shownOf(page.items[at] as TimelineItem)
  const facts = { ...page.factsOf(shown.post), rest }
  const pieces = page.renderPost(plan, shown)
  pieces.forEach((piece, at) => {
    to.add(piece)
    const gap = plan.gaps[at]
    if (gap) to.add(gap(shown, facts))
  })
}
