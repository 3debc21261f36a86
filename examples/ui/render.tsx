import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

/** Shows the app in the page. */
export function renderApp(app: ReactNode): void {
  const root = document.getElementById('root')
  if (root) createRoot(root).render(<StrictMode>{app}</StrictMode>)
}
