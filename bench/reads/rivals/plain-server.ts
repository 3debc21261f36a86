import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { handleRequests } from '../../child-process.ts'
import { verifyAuthorization } from '../../tokens.ts'
import { openFeed, type RivalConfig } from './open-feed.ts'
import { type RivalFeed, toConnection } from './rival-feed.ts'

// The feed of a rival behind plain HTTP.
let feed: RivalFeed | undefined

const server = createServer(async (request, response) => {
  const { status, body } = await answerRequest(request).catch((error: Error) => ({
    ...{ status: 500, body: { message: error.message } },
  }))
  response.statusCode = status
  if (body === undefined) return response.end()
  const text = JSON.stringify(body)
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', Buffer.byteLength(text))
  response.end(text)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
handleRequests((message: RivalConfig | { cpu: true }) => {
  if ('cpu' in message) return process.cpuUsage()
  feed = openFeed(message)
  return { port: (server.address() as AddressInfo).port }
})

interface Answer {
  readonly status: number
  readonly body?: object
}

/**
 * `GET /timeline?limit=50&counts=true`, `GET /timeline?since=POST&version=V` with 304 for
 * nothing new under the same version, `GET /users/HANDLE/posts`
 * and `POST /posts`.
 */
async function answerRequest(request: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const reader = verifyAuthorization(request.headers.authorization)
  if (!feed) throw new Error('the server has no database')
  const [path = '', search] = (request.url ?? '').split('?')
  if (request.method === 'POST') {
    const { text } = JSON.parse(Buffer.concat(chunks).toString())
    const id = await feed.createPost(reader, text)
    return { status: 200, body: { data: { createPost: { post: { id } } } } }
  }
  const asked = new URLSearchParams(search)
  const [since, limit] = [asked.get('since') ?? undefined, Number(asked.get('limit'))]
  const author = /^\/users\/(.+)\/posts$/.exec(path)?.[1]
  if (author !== undefined) {
    const page = await feed.readAuthorPosts(reader, author, limit)
    return { status: 200, body: { data: { user: { posts: toConnection(page) } } } }
  }
  const counts = asked.get('counts') === 'true'
  const page = await feed.readTimeline(reader, { limit, counts, since })
  if (since && page.posts.length === 0 && page.version === asked.get('version'))
    return { status: 304 }
  const { version } = page
  return { status: 200, body: { data: { timeline: { ...toConnection(page), version } } } }
}
