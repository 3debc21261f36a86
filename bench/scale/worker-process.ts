import { pathToFileURL } from 'node:url'

// `feedline worker` with its default settings. FEEDLINE_BUILT is the folder of the build.
const { workerCommand } = (await import(
  pathToFileURL(`${process.env.FEEDLINE_BUILT}/cli/worker.js`).href
)) as typeof import('../../src/cli/worker.ts')
await workerCommand().parseAsync([], { from: 'user' })
