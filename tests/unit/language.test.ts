import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import {
  buildSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql'
import { expect, test } from 'vitest'
import '../../packages/index.ts'
import { buildProgram } from '../../src/cli/program.ts'

const root = join(import.meta.dirname, '../..')

/** The words of tests/unit/docs-language.test.ts, in texts of the code. */
const avoided = [
  ...['anew', 'so many', 'whoever', 'whom(?:ever)?', 'nobody', 'vanish\\w*', 'told', 'tells? of'],
  ...['had by then', 'comes to', 'lies in', 'stands in', 'is to be', 'meanwhile', 'besides'],
]
const avoidedPattern = new RegExp(`\\b(?:${avoided.join('|').replaceAll(' ', '\\s+')})\\b`, 'gi')
const sentenceWordsMax = 25

/** Names that the glossary replaced. */
const retired = [
  ...['OnceKey', 'onceKey', 'firstResults?', 'atOnce', 'claimLike', 'FollowsTogether'],
  ...['roundsOf', 'sidesOf', 'orphanedEngagementOf', 'unmark', 'viewerMarks'],
  ...['EngagedLog', 'OutlierWalk', 'surviving', 'takeBack\\w*', 'takeAllBack', 'forgetReader'],
  ...[
    'keepOnce',
    'Stretch',
    'Standing',
    'standingOf',
    'oracle(?=\\.|,)',
    'Looks',
    'Mender',
    'misfits',
  ],
  ...['lonelyEdges', 'unlikeEdges', 'isTorn', 'withSoFar', 'untilTold', 'Remedy', 'Cast', 'Spoil'],
]
const retiredPattern = new RegExp(`\\b(?:${retired.join('|')})\\b`, 'g')
const folders = ['src', 'packages', 'tests', 'bench', 'faults', 'soak', 'scripts']
const ownPath = join('tests', 'unit', 'language.test.ts')
const commentPattern = /\/\/.*|\/\*[\s\S]*?\*\//g
const testNamePattern = /(?<=\b(?:test|it|describe)(?:\.\w+[^\n]*)?\(\s*)(?:'[^'\n]*'|`[^`]*`)/g

/** A text that users read, and where it is. */
interface Text {
  readonly place: string
  readonly text: string
}

test('schema descriptions use no avoided word and no sentence over 25 words', () => {
  const sdl = readFileSync(join(root, 'schema/schema.graphql'), 'utf8')
  const texts = schemaTexts(buildSchema(sdl))
  expect(texts.length).toBeGreaterThan(200)
  expect([...avoidedIn(texts), ...longSentencesIn(texts)]).toEqual([])
})

test('the help of every command uses no avoided word', () => {
  const texts = helpTexts(buildProgram())
  expect(texts.length).toBeGreaterThan(50)
  expect(avoidedIn(texts)).toEqual([])
})

test('error messages and literals of the CLI use no avoided word', () => {
  const texts = ['src', 'packages'].flatMap(sourceFiles).flatMap(messageTexts)
  expect(texts.length).toBeGreaterThan(100)
  expect(avoidedIn(texts)).toEqual([])
})

test('comments in all code, and names of tests, use no avoided word', () => {
  const comments = folders
    .flatMap(sourceFiles)
    .filter((file) => file !== ownPath)
    .flatMap((file) => matchesIn(file, commentPattern))
  const names = sourceFiles('tests').flatMap((file) => matchesIn(file, testNamePattern))
  expect([comments.length, names.length].every((count) => count > 500)).toBe(true)
  expect(avoidedIn([...comments, ...names])).toEqual([])
})

test('no code uses a name that the glossary replaced', () => {
  const files = folders.flatMap(sourceFiles).filter((file) => file !== ownPath)
  const found = files.flatMap((file) => matchesIn(file, retiredPattern))
  expect(found.map(({ place, text }) => `${place}: ${text}`)).toEqual([])
})

test('the word check ignores case, and the sentence check finds a sentence of 26 words', () => {
  const found = avoidedIn([{ place: 'here', text: 'It is free. Nobody\nowns it.' }])
  expect(found).toEqual(['here: "Nobody" in: Nobody owns it.'])
  const long = (words: number) => [{ place: 'here', text: `${'a '.repeat(words - 1)}b. Short.` }]
  expect([longSentencesIn(long(25)).length, longSentencesIn(long(26)).length]).toEqual([0, 1])
})

const sentencesOf = (text: string): string[] =>
  text.replaceAll(/\s+/g, ' ').split(/(?<=[.!?]) (?=[A-Z`"])/)

const avoidedIn = (texts: readonly Text[]): string[] =>
  texts.flatMap(({ place, text }) =>
    sentencesOf(text).flatMap((sentence) =>
      (sentence.match(avoidedPattern) ?? []).map((word) => `${place}: "${word}" in: ${sentence}`),
    ),
  )

const longSentencesIn = (texts: readonly Text[]): string[] =>
  texts.flatMap(({ place, text }) =>
    sentencesOf(text)
      .map((sentence) => ({ sentence, words: sentence.trim().split(' ').length }))
      .filter(({ words }) => words > sentenceWordsMax)
      .map(({ sentence, words }) => `${place}: ${words} words: ${sentence}`),
  )

interface Described {
  readonly name: string
  readonly description?: string | null | undefined
}

function schemaTexts(schema: GraphQLSchema): Text[] {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  )
  const at = (place: string, { description }: Described) => ({ place, text: description ?? '' })
  return types.flatMap((type) => {
    const self = at(type.name, type)
    if (isEnumType(type)) {
      return [self, ...type.getValues().map((value) => at(`${type.name}.${value.name}`, value))]
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields())
      return [self, ...fields.map((field) => at(`${type.name}.${field.name}`, field))]
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return [self]
    const fields = Object.values(type.getFields()).flatMap((field) => [
      at(`${type.name}.${field.name}`, field),
      ...field.args.map((arg) => at(`${type.name}.${field.name}(${arg.name}:)`, arg)),
    ])
    return [self, ...fields]
  })
}

function helpTexts(command: Command, path = command.name()): Text[] {
  const written: string[] = []
  command.configureOutput({ writeOut: (text) => written.push(text) }).outputHelp()
  const below = command.commands.flatMap((sub) => helpTexts(sub, `${path} ${sub.name()}`))
  const parts = written.join('').split(/\n\s*\n|\n(?= {2}\S)/)
  return [...parts.map((text) => ({ place: `${path} --help`, text })), ...below]
}

const sourceFiles = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))

function matchesIn(file: string, pattern: RegExp): Text[] {
  const source = readFileSync(join(root, file), 'utf8')
  return Array.from(source.matchAll(pattern), ({ 0: text, index }) => {
    const line = source.slice(0, index).split('\n').length
    return { place: `${file}:${line}`, text }
  })
}

/** Comments, string literals, calls that make an error, and parentheses. */
const tokens =
  /\/\/.*|\/\*[\s\S]*?\*\/|(['"`])(?:\\.|(?!\1)[^\\])*\1|(?:\w*Error|\bbadInput|\brefused)\(|[()]/g

/**
 * The string literals in calls that make an error; in src/cli and the commands of packages, all
 * string literals.
 */
function messageTexts(file: string): Text[] {
  const source = readFileSync(join(root, file), 'utf8')
  const isCommand = file.startsWith(join('src', 'cli')) || file.endsWith('command.ts')
  const least = isCommand ? 1 : 0
  let depth = least
  return Array.from(source.matchAll(tokens)).flatMap(({ 0: token, index }) => {
    if (token === ')') depth = Math.max(depth - 1, least)
    else if (token.endsWith('(') && (depth > 0 || token !== '(')) depth++
    if (depth === 0 || !/^['"`](?!\.)/.test(token)) return []
    const line = source.slice(0, index).split('\n').length
    return [{ place: `${file}:${line}`, text: token.slice(1, -1) }]
  })
}
