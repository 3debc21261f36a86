import { createStore } from './store'

const key = 'feedline.handle'

/** Whether the server accepts a text as a handle. */
export const isHandle = (text: string): boolean =>
  /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?$/.test(text)

const held = localStorage.getItem(key) ?? ''
const handle = createStore(isHandle(held) ? held : '')

/** The handle of the viewer, or an empty text. For requests. */
export const viewerHandle = handle.get

/** The handle of the viewer, or an empty text. */
export const useHandle = handle.use

/** Signs in as a development user: the server believes the handle. */
export function signIn(name: string): void {
  localStorage.setItem(key, name)
  handle.set(name)
}

export function signOut(): void {
  localStorage.removeItem(key)
  handle.set('')
}
