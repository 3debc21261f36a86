import { signInUrl } from './settings'
import { createStore } from './store'

/** What the module of the setting `feedline-sign-in` exports. It adapts the identity provider of the site. */
export interface Provider {
  /** The current token, refreshed where that is due. Nothing if no one is signed in. */
  readonly getToken: () => Promise<string | false | null | undefined>
  readonly signIn: () => Promise<unknown>
  readonly signOut: () => Promise<unknown>
}

interface Session {
  /** A text that differs for each subject. Empty if no one is signed in. */
  readonly viewer: string
  /** Why no one is signed in any more. */
  readonly problem?: unknown
}

const key = 'feedline.subject'
const session = createStore<Session>({ viewer: '' })
/** Undefined in development, and if its module could not be loaded. */
let provider: Provider | undefined

export const useSession = session.use

/** Who is signed in. Each viewer has a cache of their own. Empty if no one is. */
export const useViewer = (): string => session.use().viewer

/** Whether the server accepts a text as a handle. */
export const isHandle = (text: string): boolean =>
  /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/.test(text)

/** Finds out who is signed in. A failure leads to the sign-in, which shows it. */
export async function openSession(): Promise<void> {
  if (!signInUrl) {
    const held = localStorage.getItem(key) ?? ''
    return session.set({ viewer: isHandle(held) ? held : '' })
  }
  try {
    const url = new URL(signInUrl, document.baseURI).href
    provider = (await import(/* @vite-ignore */ url)) as Provider
    session.set({ viewer: viewerOf(await provider.getToken()) })
  } catch (problem) {
    session.set({ viewer: '', problem })
  }
}

/** Signs in as a development user: the server believes the subject. */
export function signInAs(subject: string): void {
  localStorage.setItem(key, subject)
  session.set({ viewer: subject })
}

/**
 * Signs in with the provider, which shows a window, or a page that leads back here.
 * @param onSuccess is called before the viewer sees the app.
 */
export async function signIn(onSuccess: () => void): Promise<void> {
  // A browser does not load a module again that failed.
  if (!provider) return location.reload()
  await provider.signIn()
  const viewer = viewerOf(await provider.getToken())
  if (viewer) onSuccess()
  session.set({ viewer })
}

/** Signs out at once. Throws what the provider throws. */
export async function signOut(): Promise<void> {
  localStorage.removeItem(key)
  session.set({ viewer: '' })
  await provider?.signOut()
}

/** Whom a token names. One that does not say so belongs to a viewer of its own. */
function viewerOf(token: string | false | null | undefined): string {
  if (!token) return ''
  try {
    const [, payload = ''] = token.split('.')
    const { iss, sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
    return sub === undefined ? token : JSON.stringify([iss, sub])
  } catch {
    return token
  }
}

/** The header of a request now. Undefined if the viewer is no longer signed in: the app then shows who is. */
async function authorizationOf(viewer: string): Promise<string | undefined> {
  if (!signInUrl) return `Dev ${viewer}`
  const token = await provider?.getToken()
  const current = viewerOf(token)
  if (current === viewer) return `Bearer ${token}`
  leave(viewer, { viewer: current })
  return undefined
}

/** Another viewer, or none, takes the place of one that may be gone already. */
function leave(viewer: string, next: Session): void {
  if (session.get().viewer === viewer) session.set(next)
}

const signedOut = () =>
  Response.json(
    { errors: [{ message: 'You are signed out.', extensions: { code: 'UNAUTHENTICATED' } }] },
    { status: 401, headers: { 'content-type': 'application/graphql-response+json' } },
  )

/** `fetch` for the requests of a viewer, each with the token of its moment. A refused one leads to the sign-in. */
export const fetchAs =
  (viewer: string): typeof fetch =>
  async (input, init) => {
    const send = (authorization: string) => {
      const headers = new Headers(init?.headers)
      headers.set('authorization', authorization)
      return fetch(input, { ...init, headers })
    }
    const first = await authorizationOf(viewer)
    if (!first) return signedOut()
    const answer = await send(first)
    if (answer.status !== 401) return answer
    // The token may have ended on its way. The provider then has another one.
    const second = await authorizationOf(viewer)
    const last = second && second !== first ? await send(second) : answer
    if (last.status === 401) leave(viewer, { viewer: '', problem: await readProblem(last) })
    return last
  }

async function readProblem(refusal: Response): Promise<unknown> {
  try {
    return (await refusal.clone().json()).errors[0].message
  } catch {
    return 'The server does not accept the sign-in.'
  }
}
