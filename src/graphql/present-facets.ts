import { type Facet, nameFacets } from '../posts/facets.ts'
import type { Context } from './context.ts'
import { presentUsers } from './present-users.ts'
import type { Selection } from './selection.ts'
import type { TextFacet } from './types/text-facet.ts'

/** A post or an entry, with its text if it has one that is known. */
interface Texted {
  readonly id: string
  readonly text?: string | undefined
  readonly facets?: readonly Facet[] | undefined
}

/**
 * The facets of texts as plain objects, in the order of the texts. Undefined without a text. Loads the mentioned users of
 * all texts together, if they are selected: as {@link presentUsers}, and one command for the blocks that hide them.
 * @param selection on the objects with the texts.
 * @returns undefined if facets are not selected.
 */
export async function presentFacets(
  ctx: Context,
  texts: readonly Texted[],
  selection: Selection,
): Promise<readonly (TextFacet[] | undefined)[] | undefined> {
  if (!selection.has('facets')) return undefined
  const all = texts.map(({ text, facets }) =>
    text === undefined ? undefined : nameFacets(text, facets),
  )
  const facetSelection = selection.of('facets')
  const handles = facetSelection.has('user')
    ? all.flatMap((facets = []) => facets.flatMap(({ handle }) => handle ?? []))
    : []
  const [hidden, users] = await Promise.all([
    ctx.loaders.hiddenAmong(handles),
    presentUsers(ctx, handles, facetSelection.of('user')),
  ])
  return all.map((facets) =>
    facets?.map((facet) => {
      const { handle } = facet
      const isShown = handle !== null && !hidden.has(handle)
      return { ...facet, user: isShown ? (users.get(handle) ?? null) : null }
    }),
  )
}
