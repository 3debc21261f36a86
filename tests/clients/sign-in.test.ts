import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '../../packages/mongod/process.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { type TestApp, useApp } from '../support/app.ts'
import { type Provider, providers, publishKeys } from '../support/providers.ts'
import { handle, openAccounts } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, never, useSites, type Viewer } from './example.ts'
import { ProviderSession, signInPath } from './provider.ts'
import { holdRequests } from './routes.ts'

const { environmentOf, close } = await publishKeys()
afterAll(close)
const names = Object.keys(providers)
/** In production, a server names the origins whose pages may call it. */
const ports = await Promise.all(names.map(freePort))

/** The providers are dealt out to the apps. The first one of each app tells its whole story. */
const providersOf = (example: number) =>
  names.filter((_, at) => at % exampleNames.length === example)

const fieldsOf = ({ page }: Viewer) => ({
  handle: page.getByRole('textbox', { name: 'Handle' }),
  name: page.getByRole('textbox', { name: 'Name' }),
})

const signIn = ({ page }: Viewer) => page.getByRole('button', { name: 'Sign in' }).click()
const signOut = ({ page }: Viewer) => page.getByRole('button', { name: 'Sign out' }).click()

async function signUp(viewer: Viewer, chosen: string): Promise<void> {
  const fields = fieldsOf(viewer)
  await fields.handle.fill(chosen)
  await fields.name.fill(`Name of ${chosen}`)
  await viewer.page.getByRole('button', { name: 'Create account' }).click()
  await viewer.page.getByText('No posts yet').waitFor()
}

async function post({ page }: Viewer, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'What is new?' }).fill(text)
  await page.getByRole('button', { name: 'Post', exact: true }).click()
}

describe.skipIf(!hasChromium).each(exampleNames)('%s', (example) => {
  const openSite = useSites(example)
  const [first = '', ...others] = providersOf(exampleNames.indexOf(example))
  /** A server with the variables of the document. An account gives up its former handle at once. */
  const serve = (name: string) =>
    useApp(
      environmentOf(name, {
        CORS_ORIGINS: `http://localhost:${ports[names.indexOf(name)]}`,
        HANDLE_RESERVED_DAYS: '0',
      }),
    )
  const apps = new Map([first, ...others].map((name) => [name, serve(name)]))

  // Without the accounts of the test before, or of a first try.
  beforeEach(async () => {
    for (const { services, rest } of apps.values()) {
      const accounts = await services.collections.users.find().toArray()
      for (const { _id } of accounts) await services.users.delete(_id as UserId)
      await rest()
    }
  })

  /** Opens a page whose site adapts a provider. */
  async function open(name: string) {
    const app = apps.get(name) as TestApp
    const session = new ProviderSession(providers[name] as Provider)
    const port = ports[names.indexOf(name)] ?? 0
    const settings = { serverUrl: `${app.url}/graphql`, pollSeconds: never, signIn: signInPath }
    return { app, session, viewer: await openSite({ ...settings, port }, session.serve) }
  }

  test(`a viewer with tokens of ${first} signs up, posts, comes back, is renamed, and sees the new handle`, async () => {
    const { app, session, viewer } = await open(first)
    const { page, alert, shows } = viewer
    await openAccounts(app.services, [handle('taken')])
    await signIn(viewer)
    const fields = fieldsOf(viewer)
    await fields.name.fill('Ann')
    expect(await fields.handle.inputValue()).toBe('')
    await fields.handle.fill('@Taken')
    await fields.name.focus()
    await expect.poll(() => alert.allInnerTexts()).toEqual(['The handle "taken" is not available.'])
    await page.getByRole('button', { name: 'Create account' }).click()
    await alert.getByText('The handle "taken"').last().waitFor()
    await signUp(viewer, 'ann')
    await post(viewer, 'hello @ann')
    await shows(['hello @ann'])
    await page.reload()
    await shows(['hello @ann'])
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
    const mutate = async (query: string) => {
      const headers = { authorization: `Bearer ${session.token()}` }
      expect((await app.send({ query: `mutation { ${query} }`, headers })).errors).toEqual([])
    }
    await mutate('updateUser(input: {handle: "ann-now"}) { user { id } }')
    session.next = { sub: 'new owner' }
    await mutate('createUser(input: {handle: "ann", name: "Other"}) { user { id } }')
    await page.reload()
    const mention = page.getByRole('link', { name: '@ann', exact: true })
    expect(await mention.getAttribute('href')).toBe('/users/ann-now')
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText('@ann-now').first().waitFor()
    expect(await page.evaluate('location.pathname')).toBe('/users/ann-now')
  })

  test(`the next subject of ${first} in the same browser sees nothing of the one before`, async () => {
    const { session, viewer } = await open(first)
    const { page, shows, texts, poll } = viewer
    session.next = { sub: 'one before' }
    await signIn(viewer)
    await signUp(viewer, 'before')
    await post(viewer, 'by the one before')
    await shows(['by the one before'])
    await signOut(viewer)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await texts()).toEqual([])
    session.next = { sub: 'after' }
    await signIn(viewer)
    await signUp(viewer, 'after')
    expect(await texts()).toEqual([])
    // In another tab, the first one signs in again.
    session.current = { sub: 'one before' }
    await poll()
    await shows(['by the one before'])
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText('@before').first().waitFor()
  })

  test(`an ended token of ${first} is replaced by the next one, and without one the page asks to sign in again`, async () => {
    const { session, viewer } = await open(first)
    const { page, alert, shows, post: postOf } = viewer
    session.next = { sub: 'long visit' }
    await signIn(viewer)
    await signUp(viewer, 'visitor')
    session.ended = 1
    await post(viewer, 'goes on')
    await shows(['goes on'])
    session.ended = Number.POSITIVE_INFINITY
    await postOf('goes on').getByRole('button', { name: 'Like' }).click()
    await page.getByRole('heading', { name: 'Welcome to Feedline' }).waitFor()
    await alert.getByText('the token has expired').first().waitFor()
    session.ended = 0
    await signIn(viewer)
    await shows(['goes on'])
    await signOut(viewer)
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await alert.count()).toBe(0)
  })

  test('a press of the button counts when the check of the handle ends in the middle of it', async () => {
    const { app, session, viewer } = await open(first)
    const { page, alert } = viewer
    const taken = handle('taken-'.repeat(10).slice(0, -1))
    await openAccounts(app.services, [taken])
    session.next = { sub: 'one who presses' }
    await signIn(viewer)
    const { handle: field, name } = fieldsOf(viewer)
    const button = page.getByRole('button', { name: 'Create account' })
    /** Leaves the handle by a press of the button, which ends after the answer of the check. */
    const press = async (chosen: string) => {
      const release = await holdRequests(page, 'sHandleAvailable')
      await name.fill('Ann')
      await field.fill(chosen)
      await button.hover()
      await page.mouse.down()
      const answered = page.waitForResponse((response) => response.url().includes('/graphql'))
      release()
      await answered
      await viewer.traffic.settle()
      await page.mouse.up()
    }
    // Its mistake has more than one line.
    await press(taken)
    await expect.poll(() => viewer.traffic.take().operations.join()).toContain('CreateUser')
    await alert.first().waitFor()
    await press('ann')
    await page.getByText('No posts yet').waitFor()
  })

  test('what is typed while a form is sent goes to no field, for a refusal moves the focus', async () => {
    const { app, session, viewer } = await open(first)
    const { page, alert } = viewer
    await openAccounts(app.services, [handle('taken')])
    session.next = { sub: 'one who types' }
    await signIn(viewer)
    const fields = fieldsOf(viewer)
    await fields.handle.fill('taken')
    await fields.name.fill('Ann')
    await alert.waitFor()
    const release = await holdRequests(page, 'CreateUser')
    await page.getByRole('button', { name: 'Create account' }).click()
    const type = () => page.keyboard.type('abc')
    await page.getByRole('textbox', { name: 'Name' }).focus()
    await type()
    release()
    const isFocused = () => fields.handle.evaluate((field) => field === document.activeElement)
    await expect.poll(isFocused).toBe(true)
    expect(await fields.name.inputValue()).toBe('Ann')
    expect(await fields.handle.inputValue()).toBe('taken')
    await type()
    expect(await fields.handle.inputValue()).toContain('abc')
  })

  test.each(others)('a viewer with tokens of %s signs in, signs up and posts', async (name) => {
    const { viewer } = await open(name)
    await signIn(viewer)
    await signUp(viewer, 'ann')
    await post(viewer, `hello from ${name}`)
    await viewer.shows([`hello from ${name}`])
    await viewer.page.reload()
    await viewer.shows([`hello from ${name}`])
  })

  test('a site whose module cannot be loaded says so', async () => {
    const { app } = await open(first)
    const settings = { serverUrl: `${app.url}/graphql`, pollSeconds: never, signIn: '/none.js' }
    const { page, alert } = await openSite({ ...settings, port: 0 }, async () => {})
    await alert.getByText('The server cannot be reached.').waitFor()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })
})
