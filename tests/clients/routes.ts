import type { Page, Request } from 'playwright-core'

const isGraphql = (url: URL) => url.pathname === '/graphql'

/** What a request to GraphQL says, by GET or by POST. */
const textOf = (request: Request): string =>
  [...new URL(request.url()).searchParams.values(), request.postData()].join(' ')

/**
 * Loses the answers to requests with this text, after the server has executed them.
 * @returns what ends the loss.
 */
export async function loseAnswers(page: Page, text: string): Promise<() => Promise<void>> {
  await page.route(isGraphql, async (route) => {
    if (!textOf(route.request()).includes(text)) return route.fallback()
    await route.fetch()
    await route.abort()
  })
  return () => page.unroute(isGraphql)
}

/** Keeps requests with this text back. They are sent when the result is called. */
export async function holdRequests(page: Page, text: string): Promise<() => void> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(isGraphql, async (route) => {
    if (textOf(route.request()).includes(text)) await released
    await route.fallback()
  })
  return release
}
