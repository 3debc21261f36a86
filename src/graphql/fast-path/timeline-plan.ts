import { viewerFields } from '../../engagement/kinds.ts'
import { timeCursors } from '../../pages/cursor.ts'
import { needsCounts, projectionOf } from '../../posts/api/present-posts.ts'
import type { TimelineArgs } from '../../timeline/api/timeline-args.ts'
import type { TimelineItem } from '../../timeline/pages/page.ts'
import { selectionBelow } from '../selection.ts'
import type { FieldPlan } from './field-plan.ts'
import { type Field, fieldsOf, type Scope, Unplanned } from './fields.ts'
import { type PageNeeds, type PlannedPage, placeOf, readPlannedPage } from './planned-page.ts'
import { type PostPlan, planPost } from './post-plan.ts'

/** Plans the reads and the answer of a timeline. @throws {Unplanned} if only graphql-js answers it. */
export function planTimeline(scope: Scope, field: Field): FieldPlan<TimelineArgs> {
  const steps = stepsOf(scope, field)
  const selection = selectionBelow({ ...scope, variableValues: {} }, field.type, field.nodes)
  const post = selection.of('edges', 'node')
  const needs: PageNeeds = {
    projection: projectionOf(post),
    counts: needsCounts(post),
    viewerHas: post.has(...viewerFields.keys()),
    pending: selection.has('pending'),
    watermark: selection.has('pollCursor'),
  }
  return {
    decidesCost: ({ first, last, after, before }) => [first, last, after != null, before != null],
    prepare: (args, services) => {
      const place = placeOf(services, args)
      return async (viewer) => {
        const page = await readPlannedPage(services, needs, place, viewer)
        if (!page) return undefined
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
  const facts = page.factsOf(shown.post)
  const pieces = page.renderPost(plan, shown)
  pieces.forEach((piece, at) => {
    to.add(piece)
    const gap = plan.gaps[at]
    if (gap) to.add(gap(shown, facts))
  })
}
