import { createStore } from './store'

const key = 'feedline.handle'
const handle = createStore(localStorage.getItem(key) ?? '')

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
