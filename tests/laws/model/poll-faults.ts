import type { Services } from '../../../src/services.ts'

/** A server that never sees another version of a kind of subject than the first. */
const ignoreVersions =
  (kind: string) =>
  ({ versions }: Services): void => {
    const first = new Map<string, string>()
    const load = versions.load.bind(versions)
    versions.load = async (subjects) => {
      const found = new Map(await load(subjects))
      for (const [subject, value] of found) {
        if (!subject.startsWith(kind)) continue
        if (!first.has(subject)) first.set(subject, value)
        found.set(subject, first.get(subject) ?? value)
      }
      return found
    }
  }

/** Faults of a server that law L7 must find between several processes, by what they do. */
export const pollFaults = {
  'a server ignores the versions of timelines': ignoreVersions('timeline:'),
  'a server ignores the versions of relations': ignoreVersions('relations:'),
  'a server never says that posts were removed': ({ news }) => {
    const right = news.findNews.bind(news)
    news.findNews = async (...asked) => ({ ...(await right(...asked)), changed: false })
  },
} as const satisfies Readonly<Record<string, (services: Services) => void>>

/** The name of a fault. */
export type PollFault = keyof typeof pollFaults
