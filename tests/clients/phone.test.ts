import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { TestApp } from '../support/app.ts'
import { handle } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

const widths = [320, 360, 390]
/** Pages that list users instead of posts. */
const lists = ['followers', 'following', 'likes']

/** A page with long names, badges, groups, comments and buttons of the viewer. */
async function createCrowdedWorld(app: TestApp) {
  const { alice, bob, write } = await createWorld(app)
  const { users, follows, engagements, posts } = app.services
  await users.update(handle(alice), { name: 'Wilhelmina Featherstonehaugh' })
  await users.update(handle(bob), { name: 'Bartholomew Okonkwo-Lindqvist', bio: 'long'.repeat(60) })
  await users.update(handle(bob), { bannerUrl: 'https://pictures.example/missing' })
  await follows.follow(handle(bob), handle(alice))
  const groups = [
    'family',
    'colleagues',
    'neighbours',
    'book club',
    'photographers',
    'a'.repeat(32),
  ]
  await follows.setGroups(handle(alice), handle(bob), groups)
  await write(bob, [
    `${'long'.repeat(60)} ${'words '.repeat(8)}`,
    'hello #spring https://example.org',
  ])
  const picture = { url: 'https://pictures.example/missing', kind: 'IMAGE' as const }
  const alt = 'A long alternative text of a picture that does not load. '.repeat(8)
  await posts.create(handle(bob), { text: '', attachments: [{ ...picture, alt }] })
  const several = [picture, picture, { ...picture, kind: 'LINK' as const, alt }]
  await posts.create(handle(bob), { text: 'A', attachments: several })
  const [own] = await write(alice, ['own'])
  if (!own) throw new Error('a post')
  await engagements.add('likes', handle(bob), own)
  await engagements.add('comments', handle(bob), own, { text: 'I agree completely. '.repeat(6) })
  return {
    alice,
    paths: {
      home: '/',
      group: '/groups/colleagues',
      'own profile': `/users/${alice}`,
      profile: `/users/${bob}`,
      followers: `/users/${alice}/followers`,
      following: `/users/${alice}/following`,
      post: `/posts/${postNodeId(own)}`,
      likes: `/posts/${postNodeId(own)}/likes`,
      edit: '/edit',
      nowhere: '/nowhere',
    },
  }
}

/** What is wrong with the layout of a page. Empty if nothing is. */
const defectsOf = (page: Page) => page.evaluate<string[]>(`(${findDefects.toString()})()`)

/** Runs in the page. */
function findDefects(): string[] {
  const defects: string[] = []
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) defects.push(`the page is ${scrollWidth} pixels wide`)
  const bar = document.querySelector('.bar')?.getBoundingClientRect()
  const main = document.querySelector('main')?.getBoundingClientRect()
  if (bar && main && main.top > bar.bottom) defects.push('a gap below the bar')
  const isHidden = (element: Element) => element.closest('.hidden, .skip, [aria-hidden=true]')
  // A shadow that does not move with the content shows on which side there is more.
  const showsThatItScrolls = (element: Element | null): boolean =>
    element !== null &&
    ((element.scrollWidth > element.clientWidth &&
      getComputedStyle(element).overflowX === 'auto' &&
      getComputedStyle(element).backgroundAttachment.includes('local')) ||
      showsThatItScrolls(element.parentElement))
  for (const element of document.querySelectorAll('a, button, input, textarea, [tabindex="0"]')) {
    const { left, right } = element.getBoundingClientRect()
    const isInside = left >= 0 && right <= clientWidth
    if (!isInside && !isHidden(element) && !showsThatItScrolls(element)) {
      defects.push(`outside of the window: ${element.textContent}`)
    }
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const node = texts.currentNode as Text
    if (!node.parentElement || isHidden(node.parentElement)) continue
    for (const { index, 0: word } of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
      if (lines.size > 1 && word.length < 25) defects.push(`broken: ${word}`)
    }
  }
  for (const badge of document.querySelectorAll('.badge, button, .post footer a')) {
    const range = document.createRange()
    range.selectNodeContents(badge)
    const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom)))
    if (range.getBoundingClientRect().height > 34)
      defects.push(`on ${lines.size} lines: ${badge.textContent}`)
  }
  return defects
}

/**
 * What of a page is too small for a finger: WCAG 2.5.8, with its exception of links in a sentence.
 */
const smallOf = (page: Page) => page.evaluate<string[]>(`(${findSmall.toString()})()`)

/** Runs in the page. */
function findSmall(): string[] {
  const interactive = 'a, button, input, textarea, select, video, summary, [tabindex="0"]'
  return [...document.querySelectorAll(interactive)].flatMap((element) => {
    if (element.closest('.hidden, .skip')) return []
    const { width, height } = element.getBoundingClientRect()
    const isInSentence =
      getComputedStyle(element).display === 'inline' && element.closest('.text, .mutuals') !== null
    const isSmall = width < 24 || height < 24
    const name = element.textContent || element.getAttribute('aria-label')
    return isSmall && !isInSentence ? [`${width} × ${height}: ${name}`] : []
  })
}

/** Selectors of touched elements that keep what a pointer above them would show. */
const hoverRulesOf = (page: Page) => page.evaluate<string[]>(`(${findHoverRules.toString()})()`)

/** Runs in the page. */
function findHoverRules(): string[] {
  const selectorsOf = (rules: CSSRuleList): string[] =>
    [...rules].flatMap((rule) => {
      if (rule instanceof CSSMediaRule && !matchMedia(rule.conditionText).matches) return []
      const own = rule instanceof CSSStyleRule ? [rule.selectorText] : []
      return [...own, ...('cssRules' in rule ? selectorsOf(rule.cssRules as CSSRuleList) : [])]
    })
  const all = [...document.styleSheets].flatMap((sheet) => selectorsOf(sheet.cssRules))
  if (all.length < 100) throw new Error(`only ${all.length} rules`)
  return all.filter((selector) => selector.includes(':hover'))
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  test('no page of a phone breaks words, hides a button, or has one that is too small for a finger', async () => {
    const { alice, paths } = await createCrowdedWorld(app)
    const defects: Record<string, string[]> = {}
    const { page, posts } = await open(alice, { polls: false, width: 390 })
    const stranger = await open(`new-${alice}`, { polls: false, width: 390 })
    const site = new URL(page.url()).origin
    const measure = async (kind: string, shown: Page) => {
      for (const width of widths) {
        await shown.setViewportSize({ width, height: 850 })
        defects[`${kind}, ${width} pixels`] = [
          ...(await defectsOf(shown)),
          ...(await smallOf(shown)),
        ]
      }
    }
    for (const [kind, path] of Object.entries(paths)) {
      await page.goto(site + path)
      await page.getByRole('link', { name: 'book club' }).waitFor()
      if (kind === 'edit') await page.getByRole('textbox', { name: 'Bio' }).waitFor()
      else if (kind === 'nowhere') await page.getByText('There is no such page').waitFor()
      else if (lists.includes(kind)) await page.getByTestId('person').first().waitFor()
      else await posts.first().waitFor()
      await measure(kind, page)
    }
    await stranger.page.getByRole('textbox', { name: 'Name' }).waitFor()
    await measure('new account', stranger.page)
    expect(Object.entries(defects).filter(([, list]) => list.length > 0)).toEqual([])
    expect(Object.keys(defects)).toHaveLength(widths.length * 11)
  })

  test('a touch leaves no mark where a pointer would', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['other', 'liked'])
    const { page, post } = await open(alice, { polls: false, width: 390 })
    const backgroundOf = (text: string) => {
      const button = post(text).getByRole('button', { name: 'Like' })
      return button.evaluate((element) => getComputedStyle(element).backgroundColor)
    }
    await post('liked').getByRole('button', { name: 'Like' }).tap()
    await expect.poll(() => post('liked').getByTestId('like-count').textContent()).toBe('1')
    expect(await backgroundOf('liked')).toBe(await backgroundOf('other'))
    expect(await hoverRulesOf(page)).toEqual([])
    const desktop = await open(alice, { polls: false })
    expect(await hoverRulesOf(desktop.page)).not.toEqual([])
  })

  test('the last group of a phone is reached by the keyboard', async () => {
    const { alice } = await createCrowdedWorld(app)
    const { page } = await open(alice, { polls: false, width: 320 })
    const last = page.getByRole('navigation', { name: 'Groups' }).getByRole('link').last()
    await last.focus()
    const left = 'document.activeElement.getBoundingClientRect().left'
    await expect.poll(() => page.evaluate<number>(left)).toBeLessThan(320)
  })
})
