import { pathToFileURL } from 'node:url'
import { answer } from '../children.ts'

// `feedline serve` as it is built, with one answer more: what it cost.
const at = (file: string) => pathToFileURL(`${process.env.FEEDLINE_BUILT}/${file}`).href
const { startApp } = (await import(at('app.js'))) as typeof import('../../src/app.ts')
const { readConfig } = (await import(
  at('environment.js')
)) as typeof import('../../src/environment.ts')
const { createLog } = (await import(at('log.js'))) as typeof import('../../src/log.ts')

const config = readConfig()
const app = await startApp(config, createLog('warn', false))
answer(
  (message: { readonly cpu?: true }) =>
    message.cpu ? process.cpuUsage() : { port: Number(new URL(app.url).port) },
  async () => app[Symbol.asyncDispose](),
)
