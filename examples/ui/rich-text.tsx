import { Link } from './address'

/** A part of a text, in Unicode code points. */
export interface Facet {
  readonly start: number
  readonly end: number
  readonly kind: 'MENTION' | 'HASHTAG' | 'LINK'
  /** Whom a mention names. Nothing if the user is gone. */
  readonly user?: { readonly handle: string } | null | undefined
  readonly url?: string | null | undefined
}

/** A text whose mentions and URLs are links. A mention leads to the user of then, whatever the handle is now. */
export function RichText({ text, facets = [] }: { text: string; facets?: readonly Facet[] }) {
  const points = [...text]
  const slice = (start: number, end?: number) => points.slice(start, end).join('')
  let at = 0
  const parts = facets.flatMap((facet) => {
    const before = slice(at, facet.start)
    at = facet.end
    return [before, <Part key={facet.start} facet={facet} text={slice(facet.start, facet.end)} />]
  })
  return (
    <>
      {parts}
      {slice(at)}
    </>
  )
}

function Part({ facet, text }: { facet: Facet; text: string }) {
  if (facet.user) return <Link href={`/users/${facet.user.handle}`}>{text}</Link>
  if (facet.kind === 'MENTION') return text
  if (facet.kind === 'HASHTAG' || !facet.url) return <span className="tag">{text}</span>
  return (
    <a href={facet.url} rel="noreferrer nofollow" target="_blank">
      {text}
    </a>
  )
}
