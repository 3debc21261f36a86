import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
/** Every document but the glossary, which quotes the words that it replaces. */
const documents = ['README.md', 'CONTRIBUTING.md', ...docs.map((file) => `docs/${file}`)].filter(
  (file) => file.endsWith('.md') && file !== 'docs/reference/glossary.md',
)
/** Documents whose sentences are all short. */
const shortSentences = ['README.md', 'docs/explanation/architecture.md']
const wordsMax = 25

const avoided =
  /\b(?:anew|so\s+many|whoever|whom(?:ever)?|nobody|vanish\w*|told|tells\s+of|meanwhile|besides|is\s+to\s+be|had\s+by\s+then|comes\s+to|lies\s+in|stands\s+in)\b/gi

/** A piece of a document: a paragraph, heading, list item or table row. */
interface Block {
  readonly line: number
  readonly text: string
}

/**
 * The text on the same lines, without fenced code and with `span` in place of code within a line.
 */
const withoutCode = (markdown: string, span: (code: string) => string): string =>
  markdown
    .replaceAll(/^ *(```|~~~).*?^ *\1/gms, (code) => code.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`]+`/g, span)

const oneWord = (code: string): string => code.replaceAll(/\s+/g, '·')

/** The paragraphs, headings and list items, each in one piece; tables are left out. */
function proseOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: string[] = []
  let begin = 0
  const close = () => {
    if (open.length > 0) blocks.push({ line: begin, text: open.join(' ') })
    open = []
  }
  for (const [at, line] of withoutCode(markdown, oneWord).split('\n').entries()) {
    const isAlone = /^\s*(?:$|#|\|)/.test(line)
    if (isAlone || /^\s*(?:[-*]|\d+\.)\s/.test(line)) close()
    if (open.length === 0) begin = at + 1
    if (/^\s*(?:$|\|)/.test(line)) continue
    open.push(line.replace(/^\s*(?:#+|[-*]|\d+\.)\s/, '').trim())
    if (isAlone) close()
  }
  close()
  return blocks
}

function avoidedWords(file: string, markdown: string): string[] {
  const text = withoutCode(markdown, () => '')
  return Array.from(text.matchAll(avoided), ({ index, 0: word }) => {
    const line = text.slice(0, index).split('\n').length
    return `${file}:${line}: "${word.replaceAll(/\s+/g, ' ')}"`
  })
}

function longSentences(file: string, markdown: string): string[] {
  return proseOf(markdown).flatMap(({ line, text }) => {
    const plain = text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    const sentences = plain.split(/(?<=[.!?][)"*]*)\s+(?=[^a-z\s])/)
    return sentences.flatMap((sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
      return words > wordsMax ? [`${file}:${line}: ${words} words: ${sentence}`] : []
    })
  })
}

const problems = (
  files: readonly string[],
  find: (file: string, markdown: string) => string[],
): string[] => files.flatMap((file) => find(file, readFileSync(join(root, file), 'utf8')))

test('the documents avoid the words that the glossary replaces', () => {
  expect(problems(documents, avoidedWords)).toEqual([])
})

test(`README and architecture have no sentence of more than ${wordsMax} words`, () => {
  expect(problems(shortSentences, longSentences)).toEqual([])
})

test('the word check ignores code, checks prose, and reports the line', () => {
  const markdown = 'Whoever\nreads so\nmany `nobody`.\n\n```\nanew\n```\n\n| it vanishes |\n'
  expect(avoidedWords('a.md', markdown)).toEqual([
    'a.md:1: "Whoever"',
    'a.md:2: "so many"',
    'a.md:9: "vanishes"',
  ])
})

test('the sentence check counts list items, wrapped paragraphs and link texts, and skips tables', () => {
  const long = Array.from({ length: wordsMax + 1 }, () => 'Word').join(' ')
  const short = Array.from({ length: wordsMax }, () => 'Word').join(' ')
  const markdown = `- ${long}\n\n| ${long} |\n\n${short}. ${short}.\n[${short}](a.md)\nword.\n`
  expect(longSentences('a.md', markdown)).toEqual([
    expect.stringMatching(/^a\.md:1: 26 words: Word/),
    expect.stringMatching(/^a\.md:5: 26 words: Word/),
  ])
})
