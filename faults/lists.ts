import { setTimeout as sleep } from 'node:timers/promises'
import { type Data, type Request, send } from './graphql.ts'

const patienceMs = 30_000
const attemptsMax = 5
const pagesMax = 10_000

/** Reads lists at rest, to their ends. */
export class Lists {
  private requests = 0

  constructor(private readonly urls: readonly string[]) {}

  /** Sends a query, to each server in turn. @throws Error when no attempt succeeds. */
  async query(request: Request): Promise<Data> {
    let problem = ''
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const url = this.urls[this.requests++ % this.urls.length] ?? ''
      const { data, code, message } = await send(url, request, patienceMs)
      if (data) return data
      problem = `${code}: ${message}`
      await sleep(500)
    }
    throw new Error(`a query failed at rest: ${problem}`)
  }

  /**
   * Walks a list by cursor.
   * @param read one page, as `{edges, pageInfo}`; undefined when the list's owner does not exist.
   * @returns the nodes in the order of the list.
   */
  async walk(
    read: (window: Readonly<Record<string, unknown>>) => Promise<Data | undefined>,
    size: number,
    backwards = false,
  ): Promise<Data[]> {
    const nodes: Data[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < pagesMax; pages++) {
      const window = backwards ? { last: size, before: cursor } : { first: size, after: cursor }
      const page = await read(window)
      if (!page) return nodes
      const found = page.edges.map(({ node }: Data) => node ?? {})
      if (backwards) nodes.unshift(...found)
      else nodes.push(...found)
      const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo
      if (!(backwards ? hasPreviousPage : hasNextPage)) return nodes
      cursor = backwards ? startCursor : endCursor
    }
    throw new Error(`a list has no end after ${pagesMax} pages`)
  }

  /** Walks a list forward. Empty when its owner does not exist. */
  async ofField(path: FieldPath): Promise<Data[]> {
    const document = `query($first: Int, $after: String) { ${path.root} { ... on ${path.type} { ${path.list}(first: $first, after: $after) {
      edges { node { ${path.node} } } pageInfo { endCursor hasNextPage } } } } }`
    return this.walk(async (window) => {
      const data = await this.query({ document, variables: window, viewer: path.viewer })
      return Object.values(data)[0]?.[path.list]
    }, 100)
  }
}

/** Where a list stands in the schema. */
interface FieldPath {
  /** The field of Query that holds it, with its arguments. */
  readonly root: string
  /** The type that has the list. */
  readonly type: 'User' | 'Viewer' | 'Post'
  readonly list: string
  readonly node: string
  readonly viewer?: string
}
