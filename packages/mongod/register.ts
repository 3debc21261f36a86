import { extend } from '../../src/extensions.ts'

// Only a process without MONGODB_URI loads the rest.
extend({ openEmbedded: async (options) => (await import('./open.ts')).openMongod(options) })
