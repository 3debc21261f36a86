import { setTimeout as sleep } from 'node:timers/promises'
import { type Data, type Request, sendRequest } from './graphql.ts'

const timeoutMs = 30_000
const attemptsMax = 5
const pagesMax = 10_000

/** Reads whole lists at rest. */
export class ListReader {
  private requests = 0

  constructor(private readonly urls: readonly string[]) {}

  /** Sends a query to the servers in turn. @throws Error after five failed attempts. */
  async sendQuery(request: Request): Promise<Data> {
    let lastError = ''
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const url = this.urls[this.requests++ % this.urls.length] ?? ''
      const { data, code, message } = await sendRequest(url, request, timeoutMs)
      if (data) return data
      lastError = `${code}: ${message}`
      await sleep(500)
    }
    throw new Error(`a query failed: ${lastError}`)
  }

  /**
   * Reads all pages of a list by cursor.
   * @param readPage reads one page as `{edges, pageInfo}`, or undefined if the owner of the list
   *   does not exist.
   * @returns the nodes in the order of the list.
   */
  async readAll(
    readPage: (window: Readonly<Record<string, unknown>>) => Promise<Data | undefined>,
    size: number,
    backwards = false,
  ): Promise<Data[]> {
    const nodes: Data[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < pagesMax; pages++) {
      const window = backwards ? { last: size, before: cursor } : { first: size, after: cursor }
      const page = await readPage(window)
      if (!page) return nodes
      const found = page.edges.map(({ node }: Data) => node ?? {})
      if (backwards) nodes.unshift(...found)
      else nodes.push(...found)
      const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo
      if (!(backwards ? hasPreviousPage : hasNextPage)) return nodes
      cursor = backwards ? startCursor : endCursor
    }
    throw new Error(`a list has more than ${pagesMax} pages`)
  }

  /** Reads all nodes of a list, forwards. Empty if the owner of the list does not exist. */
  async readField(path: ListPath): Promise<Data[]> {
    const document = `query($first: Int, $after: String) { ${path.root} { ... on ${path.type} { ${path.list}(first: $first, after: $after) {
      edges { node { ${path.node} } } pageInfo { endCursor hasNextPage } } } } }`
    return this.readAll(async (window) => {
      const data = await this.sendQuery({ document, variables: window, viewer: path.viewer })
      return Object.values(data)[0]?.[path.list]
    }, 100)
  }
}

/** The path of a list in the schema. */
interface ListPath {
  /** The field of Query that returns the owner of the list, with its arguments. */
  readonly root: string
  /** The type that has the list. */
  readonly type: 'User' | 'Viewer' | 'Post'
  readonly list: string
  readonly node: string
  readonly viewer?: string
}
