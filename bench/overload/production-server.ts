import { register } from 'node:module'
import { pathToFileURL } from 'node:url'
import { handleRequests } from '../child-process.ts'

// The compiled server of `feedline serve` in production. It answers its parent with its port and
// its processor time.
const urlOf = (file: string) => pathToFileURL(`${process.env.FEEDLINE_BUILT}/${file}`).href

/** The modules that a server leaves out, and what replaces them. */
const withouts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  observation: {
    'http/request-log.js': 'export const logRequests = () => {}',
    'metrics/process.js':
      'export const measureProcess = () => {}; export const clockSkew = { readFrom() {} }',
    'db/connection-metrics.js': 'export const countConnections = () => {}',
    'db/measured-connection.js':
      "export { EndingConnection as MeasuredConnection } from './ending-connection.js'",
  },
  tracing: {
    'http/request-trace.js': 'export const traceRequests = () => {}',
    'graphql/trace.js': 'export const tracePlugin = {}; export const traceRootFields = () => {}',
    'tracing/spans.js': `
      const nothing = () => {}
      export { nothing as useTracer, nothing as startSpan, nothing as startChildSpan, nothing as endSpan }
      export { nothing as beginOperation, nothing as currentTraceparent }
      export const runInSpan = (_, work) => work()
      export const inSpan = async (_, work) => work()
      export const errorTypeOf = () => 'unknown'`,
  },
}

const { WITHOUT } = process.env
if (WITHOUT) {
  const sources = Object.entries(withouts[WITHOUT] ?? {}).map(([file, source]) => [
    urlOf(file),
    source,
  ])
  const hooks = `
    let sources
    export const initialize = (given) => { sources = given }
    export const load = async (url, context, next) => sources[url] === undefined
      ? next(url, context)
      : { format: 'module', source: sources[url], shortCircuit: true }`
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, {
    data: Object.fromEntries(sources),
  })
}

const { startApp } = (await import(urlOf('app.js'))) as typeof import('../../src/app.ts')
const { readConfig } = (await import(
  urlOf('environment.js')
)) as typeof import('../../src/environment.ts')
const { createLog, linesTo } = (await import(urlOf('log.js'))) as typeof import('../../src/log.ts')

const app = await startApp(readConfig(), createLog('info', linesTo('/dev/null')))
handleRequests(
  (message: { readonly cpu?: true }) =>
    message.cpu ? process.cpuUsage() : { port: Number(new URL(app.url).port) },
  async () => app[Symbol.asyncDispose](),
)
