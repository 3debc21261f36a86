import { type AnchorHTMLAttributes, type MouseEvent, useLayoutEffect } from 'react'
import { createStore } from './store'

/** An entry of the browser's history. */
interface Place {
  readonly path: string
  /** Each entry has its own. */
  readonly key: string
}

const here = (): Place => ({ path: location.pathname, key: history.state?.key ?? '' })
const place = createStore(here())
/** How far each entry was scrolled, by its key. */
const scrolled = new Map<string, number>()

history.scrollRestoration = 'manual'
addEventListener('popstate', () => place.set(here()))
addEventListener('scroll', () => scrolled.set(place.get().key, scrollY), { passive: true })

/** Opens a page of this app. */
export function navigate(path: string): void {
  history.pushState({ key: crypto.randomUUID() }, '', path)
  place.set(here())
}

/**
 * The parts of the current path, decoded. Scrolls to the top of a new page, and back to where an earlier page was.
 * Call it in one component only.
 */
export function useAddress(): readonly string[] {
  const { path, key } = place.use()
  useLayoutEffect(() => {
    scrollTo(0, scrolled.get(key) ?? 0)
  }, [key])
  return path.split('/').filter(Boolean).map(decodeURIComponent)
}

/** The current path. */
export const usePath = (): string => place.use().path

/** A link to a page of this app. Without keys such as Ctrl, it does not load the app again. */
export function Link({
  href,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(href)
  }
  const current = usePath() === href ? 'page' : undefined
  return <a {...rest} href={href} aria-current={current} onClick={open} />
}
