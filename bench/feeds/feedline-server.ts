import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { handleRequests } from '../child-process.ts'

// The compiled server of `feedline serve`. It also answers its parent with its port, its processor
// time and its memory.
const urlOf = (file: string) => pathToFileURL(`${process.env.FEEDLINE_BUILT}/${file}`).href
const { startApp } = (await import(urlOf('app.js'))) as typeof import('../../src/app.ts')
const { readConfig } = (await import(
  urlOf('environment.js')
)) as typeof import('../../src/environment.ts')
const { createLog, linesTo } = (await import(urlOf('log.js'))) as typeof import('../../src/log.ts')

// Production writes a line for each request.
const app = await startApp(readConfig(), createLog('info', linesTo('/dev/null')))
// No request comes before the server says that it is ready.
while (!(await isReady())) await sleep(20)
handleRequests(
  (message: { readonly cpu?: true; readonly rss?: true }) => {
    if (message.cpu) return process.cpuUsage()
    if (message.rss) return { rss: process.memoryUsage.rss() }
    return { port: Number(new URL(app.url).port) }
  },
  async () => app[Symbol.asyncDispose](),
)

/** Asks without fetch, which would load modules that the server does not need. */
async function isReady(): Promise<boolean> {
  const [answer] = await once(get(`${app.adminUrl}/readyz`, { agent: false }), 'response')
  answer.resume()
  return answer.statusCode === 200
}
