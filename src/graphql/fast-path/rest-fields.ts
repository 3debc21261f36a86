import {
  type DocumentNode,
  execute,
  type FieldNode,
  Kind,
  OperationTypeNode,
  type SelectionNode,
} from 'graphql'
import { timeCursors } from '../../pages/cursor.ts'
import { timelineNeedsOf } from '../../posts/api/present-posts.ts'
import type { TimelinePage, TimelineRequest } from '../../timeline/pages/page.ts'
import type { Context } from '../context.ts'
import { selectionBelow } from '../selection.ts'
import type { Field, Scope } from './fields.ts'

/**
 * The values of the fields without a plan of each selection on posts, by the name of the selection.
 */
export type RestOfPost = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A page that was read. */
export interface ReadPage {
  readonly page: TimelinePage
  readonly request: TimelineRequest
  /** Of the operation, as the client sent them. */
  readonly variables: Readonly<Record<string, unknown>>
}

/**
 * The fields of the posts of a timeline that have no plan. graphql-js executes them, and nothing
 * else of the operation, on the page that was read.
 */
export class RestFields {
  private readonly selections: SelectionNode[] = []
  private planned: ReturnType<RestFields['plan']> | undefined

  /** @param timeline the field of Query. */
  constructor(
    private readonly scope: Scope,
    private readonly timeline: Field,
  ) {}

  get isEmpty(): boolean {
    return this.selections.length === 0
  }

  /** Adds the fields without a plan of a selection on posts. @returns the name of their values. */
  add(fields: readonly FieldNode[]): string {
    const name = `node${this.selections.length}`
    this.selections.push(selectAs(name, 'node', fields))
    return name
  }

  /**
   * Executes the fields: the commands of their resolvers. The page, and what was loaded, stay in
   * the loaders.
   * @returns the values for each post of the page, in its order. Undefined after an error.
   */
  async execute(
    ctx: Context,
    { page, request, variables }: ReadPage,
  ): Promise<readonly RestOfPost[] | undefined> {
    this.planned ??= this.plan()
    const { document, needs } = this.planned
    const { timeline } = ctx.loaders
    timeline.prime(request, page)
    timeline.prime({ ...request, ...needs }, page)
    const { schema } = this.scope
    const asked = { schema, document, contextValue: ctx, variableValues: variables }
    const { data, errors } = await execute(asked)
    const { edges = [] } = (data?.[this.timeline.key] ?? {}) as {
      readonly edges?: readonly Readonly<Record<string, unknown>>[]
    }
    const isWhole = page.items.every(({ at }, n) => {
      const { [placeKey]: place, ...posts } = edges[n] ?? {}
      const areShown = Object.values(posts).every((post) => post !== null)
      return place === timeCursors.encode(at) && areShown
    })
    return errors || !isWhole ? undefined : (edges as readonly RestOfPost[])
  }

  /** The operation with these fields alone, and what it needs of a page. */
  private plan() {
    const { schema, fragments, variables } = this.scope
    const edges = selectAs('edges', 'edges', [place, ...this.selections])
    const nodes = this.timeline.nodes.map(
      (node): FieldNode => ({
        ...node,
        selectionSet: { kind: Kind.SELECTION_SET, selections: [edges] },
      }),
    )
    const document: DocumentNode = {
      kind: Kind.DOCUMENT,
      definitions: [
        {
          kind: Kind.OPERATION_DEFINITION,
          operation: OperationTypeNode.QUERY,
          variableDefinitions: variables,
          selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
        },
        ...Object.values(fragments),
      ],
    }
    const scope = { schema, fragments: { ...fragments }, variableValues: {} }
    const needs = timelineNeedsOf(selectionBelow(scope, this.timeline.type, nodes))
    return { document, needs }
  }
}

const selectAs = (key: string, name: string, selections: readonly SelectionNode[]): FieldNode => ({
  kind: Kind.FIELD,
  alias: { kind: Kind.NAME, value: key },
  name: { kind: Kind.NAME, value: name },
  selectionSet: { kind: Kind.SELECTION_SET, selections },
})

const placeKey = 'place'
/** Says of which item of the page the values are. */
const place: FieldNode = {
  kind: Kind.FIELD,
  alias: { kind: Kind.NAME, value: placeKey },
  name: { kind: Kind.NAME, value: 'cursor' },
}
