const setting = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** The address of the GraphQL server. Default: the server of the page. */
export const serverUrl = setting('feedline-server') || '/graphql'

/** The address of the module that signs viewers in. Default: the sign-in of development. */
export const signInUrl = setting('feedline-sign-in')

/** The handle of the account whose followees are shown to a viewer without suggestions. */
export const guideHandle = setting('feedline-guide')

/** The pause between two polls, in milliseconds. 0 if it is not set: polling.ts has a default. */
export const pollMs = Number(setting('feedline-poll-seconds')) * 1_000
