import { buildSchema, executeSync, getIntrospectionQuery, getOperationAST, parse } from 'graphql'
import { expect, test } from 'vitest'
import { Executor } from '../../src/graphql/execution.ts'
import { registry } from '../../src/metrics/registry.ts'

const schema = buildSchema(`
  type Query { a(n: Int! = 1): Int, b: String! }
  type Mutation { change: Int }
`)
const { a, b } = schema.getQueryType()?.getFields() ?? {}
if (a) a.resolve = (_, { n }) => n
if (b) {
  b.resolve = () => {
    throw new Error('it fails')
  }
}
const change = schema.getMutationType()?.getFields().change
if (change) change.resolve = () => 1

async function readMetric(line: RegExp): Promise<number> {
  return Number(line.exec(await registry.metrics())?.[1] ?? 0)
}
const hits = () =>
  readMetric(/^feedline_cache_reads_total\{cache="operations",result="hit"\} (\d+)$/m)
const bytes = () => readMetric(/^feedline_cache_bytes\{cache="operations"\} (\d+)$/m)

async function run(executor: Executor, query: string, variables = {}, operationName?: string) {
  const document = parse(query)
  const operation = getOperationAST(document, operationName)
  if (!operation) throw new Error('no operation')
  const before = await hits()
  const { data, errors } = await executor.execute({
    ...{ document, operation, variables, context: {} },
    operationName: operationName ?? null,
    queryHash: query,
  })
  return { data: { ...data }, errors, isCompiled: (await hits()) > before }
}

test('a query is compiled from its 20th execution on, and each operation of a document alone', async () => {
  const executor = new Executor(schema)
  const query = 'query One { a } query Two { a(n: 2) }'
  const compiled: boolean[] = []
  for (let n = 0; n < 21; n++) {
    const one = await run(executor, query, {}, 'One')
    expect(one.data).toEqual({ a: 1 })
    compiled.push(one.isCompiled)
  }
  expect(compiled).toEqual([...Array(19).fill(false), true, true])
  expect(await run(executor, query, {}, 'Two')).toMatchObject({ data: { a: 2 }, isCompiled: false })
})

test('an unknown name of an operation is an error, also of a document with one operation', async () => {
  const document = parse('query One { a }')
  const executor = new Executor(schema, 1)
  const { errors } = await executor.execute({
    ...{ document, operation: undefined, variables: {}, context: {} },
    ...{ operationName: 'Two', queryHash: 'it' },
  })
  expect(errors?.map(({ message }) => message)).toEqual(['Unknown operation named "Two".'])
})

test('mutations and long documents are not compiled', async () => {
  const executor = new Executor(schema, 1)
  expect(await run(executor, 'mutation { change }')).toMatchObject({
    data: { change: 1 },
    isCompiled: false,
  })
  const long = `{ ${Array.from({ length: 500 }, (_, n) => `a${n}: a`).join(' ')} }`
  for (let n = 0; n < 3; n++) expect((await run(executor, long)).isCompiled).toBe(false)
})

test('a variable that is null instead of a default fails as in graphql-js', async () => {
  const query = 'query ($n: Int = 3) { a(n: $n) }'
  const executor = new Executor(schema, 1)
  expect((await run(executor, query, {})).data).toEqual({ a: 3 })
  expect((await run(executor, query, { n: 2 })).data).toEqual({ a: 2 })
  const { errors } = await run(executor, query, { n: null })
  expect(errors?.[0]?.message).toBe('Argument "n" of non-null type "Int!" must not be null.')
})

test('compiled code follows directives by the variables of each execution', async () => {
  const executor = new Executor(schema, 1)
  const query = 'query ($x: Boolean = true) { a @include(if: $x) other: a(n: 5) @skip(if: $x) }'
  expect(await run(executor, query, { x: true })).toMatchObject({
    data: { a: 1 },
    isCompiled: true,
  })
  expect((await run(executor, query, { x: false })).data).toEqual({ other: 5 })
  expect((await run(executor, query)).data).toEqual({ a: 1 })
})

test('compiled code answers introspection as graphql-js does', async () => {
  const query = getIntrospectionQuery({ descriptions: true })
  const { data, isCompiled } = await run(new Executor(schema, 1), query)
  expect(isCompiled).toBe(true)
  const expected = executeSync({ schema, document: parse(query) })
  expect(JSON.stringify(data)).toBe(JSON.stringify(expected.data))
})

test('an error of compiled code has path, place and cause', async () => {
  const { data, errors, isCompiled } = await run(new Executor(schema, 1), '{ a b }')
  expect([data, isCompiled]).toEqual([{}, true])
  expect(errors?.map((error) => error.toJSON())).toEqual([
    { message: 'it fails', path: ['b'], locations: [{ line: 1, column: 5 }] },
  ])
  expect(errors?.[0]?.originalError).toBeInstanceOf(Error)
})

test('the bytes of compiled operations are bounded', async () => {
  const executor = new Executor(schema, 1)
  const queryOf = (n: number) =>
    `query Q${n} { ${Array.from({ length: 60 }, (_, at) => `q${n}_${at}: a`).join(' ')} }`
  const count = 300
  for (let n = 0; n < count; n++) await run(executor, queryOf(n))
  expect(await bytes()).toBeLessThanOrEqual(16 * 1024 ** 2)
  expect(await bytes()).toBeGreaterThan(8 * 1024 ** 2)
})
