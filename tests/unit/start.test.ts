import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')

test('npm start, npm run feedline and the image run on the same options of Node', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const optionsIn = (command = '') => command.match(/--[^\s",]+/g) ?? []
  const [, entrypoint] = read('Dockerfile').match(/^ENTRYPOINT (.*)$/m) ?? []
  expect(optionsIn(scripts.start)).toEqual(['--max-semi-space-size=8'])
  expect(optionsIn(scripts.feedline)).toEqual(optionsIn(scripts.start))
  expect(optionsIn(entrypoint)).toEqual(optionsIn(scripts.start))
})
