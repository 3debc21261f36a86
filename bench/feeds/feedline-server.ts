import { pathToFileURL } from 'node:url'
import { handleRequests } from '../child-process.ts'

// The compiled server of `feedline serve`. It also answers its parent with its port and its processor time.
const urlOf = (file: string) => pathToFileURL(`${process.env.FEEDLINE_BUILT}/${file}`).href
const { startApp } = (await import(urlOf('app.js'))) as typeof import('../../src/app.ts')
const { readConfig } = (await import(
  urlOf('environment.js')
)) as typeof import('../../src/environment.ts')
const { createLog } = (await import(urlOf('log.js'))) as typeof import('../../src/log.ts')

const config = readConfig()
const app = await startApp(config, createLog('warn', 'json'))
handleRequests(
  (message: { readonly cpu?: true }) =>
    message.cpu ? process.cpuUsage() : { port: Number(new URL(app.url).port) },
  async () => app[Symbol.asyncDispose](),
)
