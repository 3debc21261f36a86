import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, concatAST, parse, Source, specifiedRules, validate } from 'graphql'
import { requireId } from './require-id.ts'

// Validates the documents of schema/operations together. Prints all problems.
const folder = join(import.meta.dirname, '../schema')
const documents = readdirSync(join(folder, 'operations'))
  .map((name) => join(folder, 'operations', name))
  .map((path) => parse(new Source(readFileSync(path, 'utf8'), path)))
const schema = buildSchema(readFileSync(join(folder, 'schema.graphql'), 'utf8'))
const problems = validate(schema, concatAST(documents), [...specifiedRules, requireId])
for (const problem of problems) console.error(String(problem))
if (problems.length > 0) process.exitCode = 1
