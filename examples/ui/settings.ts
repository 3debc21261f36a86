const setting = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** The address of the GraphQL server. */
export const serverUrl = setting('feedline-server')

/** The time between two polls, in milliseconds. */
export const pollMs = Number(setting('feedline-poll-seconds')) * 1_000
