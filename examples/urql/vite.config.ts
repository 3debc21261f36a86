import { readFileSync } from 'node:fs'
import { getIntrospectedSchema, minifyIntrospectionQuery } from '@urql/introspection'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const sdl = readFileSync(new URL('../../schema/schema.graphql', import.meta.url), 'utf8')
const schema = minifyIntrospectionQuery(getIntrospectedSchema(sdl))

export default defineConfig({
  plugins: [react()],
  define: { FEEDLINE_SCHEMA: JSON.stringify(schema) },
})
