import {
  type AnchorHTMLAttributes,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react'
import { createStore } from './store'

/** An entry of the browser's history. */
interface Place {
  readonly path: string
  /** Each entry has its own. */
  readonly key: string
  /** Whether the path took the place of another one. */
  readonly isMoved: boolean
}

const here = (): Place => ({
  path: location.pathname,
  key: history.state?.key ?? '',
  isMoved: history.state?.isMoved ?? false,
})
const place = createStore(here())
/** How far each entry was scrolled, by its key. */
const scrolled = new Map<string, number>()

const appName = 'Feedline'
/** Whether the heading of a page is to take the focus: not on the first page, and then once for each page. */
let arrival: 'first' | 'pending' | 'done' = 'first'

/** Moves the focus to the heading of the page that is shown next. */
export function arrive(): void {
  document.title = appName
  arrival = 'pending'
  place.set(here())
}

history.scrollRestoration = 'manual'
addEventListener('popstate', arrive)
addEventListener('scroll', () => scrolled.set(place.get().key, scrollY), { passive: true })

/** Opens a page of this app. */
export function navigate(path: string): void {
  history.pushState({ key: crypto.randomUUID() }, '', path)
  arrive()
}

/**
 * Shows the present handle of a user in the address of a page about this user, which a former handle may have led to. Two
 * accounts that have swapped handles do not move a page to and fro.
 * @param handle nothing before the server has said it.
 */
export function usePresentHandle(handle: string | undefined): void {
  const { path, key, isMoved } = place.use()
  useEffect(() => {
    const [section, named, ...rest] = partsOf(path)
    if (section !== 'users' || !handle || named === handle || isMoved) return
    history.replaceState({ key, isMoved: true }, '', `/${[section, handle, ...rest].join('/')}`)
    place.set(here())
  }, [path, key, isMoved, handle])
}

const partsOf = (path: string): string[] => path.split('/').filter(Boolean).map(decode)

/**
 * The parts of the current path, decoded. Scrolls to the top of a new page, and back to where an earlier page was.
 * Call it in one component only.
 */
export function useAddress(): readonly string[] {
  const { path, key } = place.use()
  useLayoutEffect(() => {
    scrollTo(0, scrolled.get(key) ?? 0)
  }, [key])
  return partsOf(path)
}

/** A part that is not well encoded names nothing. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

interface HeadingProps {
  /** The title of the page. The browser's window shows it too. */
  readonly title: string
  /** What the page shows of it. Default: the title. */
  readonly children?: ReactNode
  readonly className?: string
}

/** The main heading of a page. It takes the focus when the page was opened by a link, or by Back and Forward. */
export function Heading({ title, children = title, className }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { key } = place.use()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page may be opened again.
  useEffect(() => {
    document.title = title === appName ? appName : `${title} · ${appName}`
    if (arrival === 'first') return
    const hasLostFocus = document.activeElement === document.body
    if (arrival === 'pending' || hasLostFocus) heading.current?.focus({ preventScroll: true })
    arrival = 'done'
  }, [title, key])
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children}
    </h1>
  )
}

/** The current path. */
export const usePath = (): string => place.use().path

/** Whether a click has no key that opens a new tab or window. */
export const isPlain = (event: MouseEvent): boolean =>
  !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

/** A link to a page of this app. Without keys such as Ctrl, it does not load the app again. */
export function Link({
  href,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const open = (event: MouseEvent) => {
    if (!isPlain(event)) return
    event.preventDefault()
    navigate(href)
  }
  const current = usePath() === href ? 'page' : undefined
  return <a {...rest} href={href} aria-current={current} onClick={open} />
}
