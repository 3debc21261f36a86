import { expect, test } from 'vitest'
import { moments, remarks } from '../../scripts/demo/people.ts'
import { freshText } from '../../scripts/demo/sample.ts'

test('the posts of the demo repeat no text before all others, and neighbours share no sentence', () => {
  const count = moments.length * remarks.length
  const texts = Array.from({ length: count }, (_, n) => freshText(n))
  expect(count).toBeGreaterThan(200)
  expect(new Set(texts).size).toBe(count)
  for (const [n, text] of texts.entries()) {
    const next = freshText(n + 1)
    expect(moments.filter((moment) => text.includes(moment) && next.includes(moment))).toEqual([])
    expect(remarks.filter((remark) => text.includes(remark) && next.includes(remark))).toEqual([])
  }
})
