import { describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample, type Viewer } from './example.ts'
import { createWorld } from './world.ts'

type Act = (viewer: Viewer) => Promise<void>

const press =
  (name: string): Act =>
  ({ page }) =>
    page.getByRole('button', { name, exact: true }).first().click()

const fillAndPress =
  (field: string, text: string, button: string): Act =>
  async (viewer) => {
    await viewer.page.getByRole('textbox', { name: field }).fill(text)
    await press(button)(viewer)
  }

const comment = fillAndPress('Write a comment', 'I agree', 'Comment')

const next: Readonly<Record<string, Act>> = {
  'then home': ({ page }) => page.getByRole('link', { name: 'Home' }).click(),
  'then sign-out': press('Sign out'),
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)

  /** Acts on pages as Alice, who has posts and follows Bob, and keeps what is reported. */
  async function createTrial() {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['by bob'])
    const own = await write(alice, ['first', 'second', 'third'])
    const viewer = await open(alice, { polls: false })
    const site = new URL(viewer.page.url()).origin
    const reported: Record<string, string[]> = {}
    const tryOut = async (title: string, path: string, ...acts: Act[]) => {
      await viewer.page.goto(site + path)
      await viewer.posts.first().waitFor()
      for (const act of acts) await act(viewer)
      await viewer.traffic.settle()
      const messages = await viewer.alert.allInnerTexts()
      if (messages.length > 0) reported[title] = messages
    }
    const [first = ''] = own.map((post) => `/posts/${postNodeId(post)}`)
    return { tryOut, reported, first, bob: `/users/${bob}` }
  }

  test('no action that succeeds reports a failure', async () => {
    const { tryOut, reported, first, bob } = await createTrial()
    await tryOut('like', '/', press('Like'))
    await tryOut('post', '/', fillAndPress('What is new?', 'new', 'Post'))
    await tryOut('deletion', '/', press('Delete'))
    await tryOut('comment', first, comment)
    await tryOut('deletion of a comment', first, press('Delete comment'))
    await tryOut('deletion on the page of the post', first, press('Delete'))
    await tryOut('groups', bob, fillAndPress('Groups', 'friends', 'Save groups'))
    expect(reported).toEqual({})
  })

  test.each(Object.entries(next))(
    'no action that succeeds reports a failure, %s',
    async (_, act) => {
      const { tryOut, reported, first, bob } = await createTrial()
      await tryOut('comment', first, comment, act)
      await tryOut('deletion', first, press('Delete'), act)
      await tryOut('unfollow', bob, press('Unfollow'), act)
      await tryOut('block', bob, press('Block'), act)
      expect(reported).toEqual({})
    },
  )

  test('a block and its end keep the page, and report no failure', async () => {
    const { alice, bob, write } = await createWorld(app)
    await write(bob, ['by bob'])
    const { page, traffic, alert, shows } = await open(alice, {
      path: `/users/${bob}`,
      polls: false,
    })
    await shows(['by bob'])
    await page.getByRole('button', { name: 'Block' }).click()
    await page.getByRole('button', { name: 'Unblock' }).waitFor()
    await shows([])
    await page.getByRole('button', { name: 'Unblock' }).click()
    await page.getByRole('button', { name: 'Follow', exact: true }).waitFor()
    await shows(['by bob'])
    await traffic.settle()
    expect(await alert.allInnerTexts()).toEqual([])
  })

  test('a deletion that fails keeps the page of the post, and says why', async () => {
    const { alice, write } = await createWorld(app)
    const [own] = await write(alice, ['own'])
    const path = `/posts/${own ? postNodeId(own) : ''}`
    const { page, alert, shows } = await open(alice, { path, polls: false })
    await shows(['own'])
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Delete' }).click()
    await alert.waitFor()
    await shows(['own'])
    await page.getByRole('textbox', { name: 'Write a comment' }).waitFor()
  })
})
