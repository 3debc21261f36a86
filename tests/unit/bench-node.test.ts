import { expect, test } from 'vitest'
import { findNode, withoutNodeOption } from '../../bench/node.ts'

test('a benchmark runs on the Node at a path', () => {
  expect(findNode(process.execPath)).toBe(process.execPath)
  expect(() => findNode('no/such/node')).toThrow('There is no Node at no/such/node')
})

test('the arguments for the other Node lack only the option that names it', () => {
  const others = ['reads', '--rounds', '1', '--json']
  expect(withoutNodeOption(['reads', '--node', '24', '--rounds', '1', '--json'])).toEqual(others)
  expect(withoutNodeOption(['--node=24', ...others])).toEqual(others)
  expect(withoutNodeOption(others)).toEqual(others)
})
