import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Handle } from '../../src/lib/ids.ts'
import { handle } from '../support/services.ts'
import { hasChromium } from './chromium.ts'
import { exampleNames, useExample } from './example.ts'
import { createWorld } from './world.ts'

const pathOf = (page: Page) => page.evaluate<string>('location.pathname')
const fieldOf = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()

/** The fields with a mistake, each with what its description says. */
const mistakesOf = (page: Page) =>
  page.locator('[aria-invalid=true]').evaluateAll((fields) =>
    fields.map((field) => {
      const description = document.getElementById(field.getAttribute('aria-describedby') ?? '')
      return [(field as HTMLInputElement).name, description?.textContent ?? '']
    }),
  )

describe.skipIf(!hasChromium).each(exampleNames)('%s', (name) => {
  const { app, open } = useExample(name)
  const accountOf = (user: string) => app.services.collections.users.findOne({ _id: user })
  const rename = (user: string) =>
    app.services.users.update(handle(user), { handle: `${user}-now` as Handle })

  test('the profile of the viewer leads to a form that changes name, bio and handle, and then to the new address', async () => {
    const { alice, write } = await createWorld(app)
    await write(alice, ['by alice'])
    const { page, shows, posts } = await open(alice, { polls: false })
    await shows(['by alice'])
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('link', { name: 'Edit profile' }).click()
    await page.getByRole('heading', { level: 1, name: 'Edit profile' }).waitFor()
    expect(await pathOf(page)).toBe('/edit')
    expect(await page.title()).toBe('Edit profile · Feedline')
    expect(await fieldOf(page, 'Name').inputValue()).toBe(alice)
    expect(await fieldOf(page, 'Handle').inputValue()).toBe(alice)
    await fieldOf(page, 'Name').fill('Alice Okonkwo')
    await fieldOf(page, 'Bio').fill('Sails.\nReads.')
    await fieldOf(page, 'Handle').fill(`@New-${alice}`)
    await save(page)
    const heading = page.getByRole('heading', { level: 1, name: 'Alice Okonkwo' })
    await heading.waitFor()
    await expect.poll(() => heading.evaluate((one) => one === document.activeElement)).toBe(true)
    expect(await pathOf(page)).toBe(`/users/new-${alice}`)
    await page.getByText('Sails.').waitFor()
    await expect
      .poll(() => page.getByRole('link', { name: 'Profile', exact: true }).getAttribute('href'))
      .toBe(`/users/new-${alice}`)
    await page.getByRole('link', { name: 'Home' }).click()
    await posts.first().getByRole('link', { name: 'Alice Okonkwo' }).waitFor()
    expect(await accountOf(alice)).toMatchObject({
      ...{ name: 'Alice Okonkwo', bio: 'Sails.\nReads.', handle: `new-${alice}` },
    })
  })

  test('each mistake is at its field, the first one has the focus, and nothing is changed', async () => {
    const { alice, bob } = await createWorld(app)
    const before = await accountOf(alice)
    const { page } = await open(alice, { path: '/edit', polls: false })
    await fieldOf(page, 'Name').fill('a'.repeat(65))
    await fieldOf(page, 'Bio').fill('kept in the form')
    await fieldOf(page, 'Address of your picture').fill('ftp://example.com/a.png')
    await save(page)
    await expect
      .poll(() => mistakesOf(page))
      .toEqual([
        ['name', 'Name must be at most 64 characters.'],
        ['avatarUrl', 'Address of your picture must be an http or https URL.'],
      ])
    const focused = () => page.evaluate('document.activeElement.name')
    await expect.poll(focused).toBe('name')
    await fieldOf(page, 'Name').fill('Alice')
    await fieldOf(page, 'Address of your picture').fill('')
    await fieldOf(page, 'Handle').fill('no handle')
    await save(page)
    await expect
      .poll(() => mistakesOf(page))
      .toEqual([['handle', expect.stringMatching(/^A handle has 1 to 64 letters/)]])
    await fieldOf(page, 'Handle').fill(bob)
    await fieldOf(page, 'Bio').focus()
    await expect
      .poll(() => mistakesOf(page))
      .toEqual([['handle', `The handle "${bob}" is not available.`]])
    expect(await focused()).toBe('bio')
    await save(page)
    await expect
      .poll(() => mistakesOf(page))
      .toEqual([['handle', expect.stringContaining(`The handle "${bob}"`)]])
    await expect.poll(focused).toBe('handle')
    expect(await accountOf(alice)).toEqual(before)
    expect(await fieldOf(page, 'Bio').inputValue()).toBe('kept in the form')
    await fieldOf(page, 'Handle').fill(alice)
    await save(page)
    await page.getByText('kept in the form').waitFor()
    expect(await accountOf(alice)).toEqual({ ...before, name: 'Alice', bio: 'kept in the form' })
  })

  test('the form of a new account has each mistake at its field too, until the account is created', async () => {
    const { alice, bob } = await createWorld(app)
    const { page } = await open(`new-${alice}`, { polls: false })
    await fieldOf(page, 'Name').fill('a'.repeat(65))
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect
      .poll(() => mistakesOf(page))
      .toEqual([['name', 'Name must be at most 64 characters.']])
    await fieldOf(page, 'Name').fill('Newcomer')
    await fieldOf(page, 'Handle').fill(bob)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect
      .poll(() => mistakesOf(page))
      .toEqual([['handle', expect.stringContaining(`The handle "${bob}"`)]])
    await fieldOf(page, 'Handle').fill(`new-${alice}`)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('No posts yet').waitFor()
  })

  test('a form sends what was changed alone, and an empty field removes what was there', async () => {
    const { alice } = await createWorld(app)
    const { users } = app.services
    const avatarUrl = 'https://pictures.example/missing'
    await users.update(handle(alice), { bio: 'before', avatarUrl })
    const { page } = await open(alice, { path: '/edit', polls: false })
    await fieldOf(page, 'Address of your picture').fill('')
    await users.update(handle(alice), { bio: 'by another app' })
    await save(page)
    await page.getByRole('heading', { level: 1, name: alice }).waitFor()
    const account = await accountOf(alice)
    expect(account).toMatchObject({ name: alice, bio: 'by another app' })
    expect(account).not.toHaveProperty('avatarUrl')
    await page.goto(new URL('/edit', page.url()).href)
    await fieldOf(page, 'Bio').fill('  ')
    await save(page)
    await page.getByRole('heading', { level: 1, name: alice }).waitFor()
    expect(await accountOf(alice)).not.toHaveProperty('bio')
    await page.getByRole('link', { name: 'Edit profile' }).click()
    await page.getByRole('textbox', { name: 'Bio' }).waitFor()
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    await save(page)
    await page.getByRole('heading', { level: 1, name: alice }).waitFor()
    expect(sent.filter((body) => body.includes('updateUser'))).toEqual([])
  })

  test('a second press of Save without an answer has the same idempotency key, and other changes another one', async () => {
    const { alice } = await createWorld(app)
    const { page, alert } = await open(alice, { path: '/edit', polls: false })
    const keys: unknown[] = []
    page.on('request', (request) => {
      const { input } = request.postDataJSON()?.variables ?? {}
      if (input) keys.push(input.clientMutationId)
    })
    await fieldOf(page, 'Name').fill('Alice Once')
    await page.context().setOffline(true)
    await save(page)
    await alert.getByText('The server cannot be reached.').waitFor()
    await page.context().setOffline(false)
    await save(page)
    await page.getByRole('heading', { level: 1, name: 'Alice Once' }).waitFor()
    expect(keys).toEqual(Array(keys.length).fill(expect.any(String)))
    expect(keys.length).toBeGreaterThan(1)
    expect(new Set(keys).size).toBe(1)
    await page.getByRole('link', { name: 'Edit profile' }).click()
    await fieldOf(page, 'Name').fill('Alice Twice')
    await save(page)
    await page.getByRole('heading', { level: 1, name: 'Alice Twice' }).waitFor()
    expect(new Set(keys).size).toBe(2)
  })

  test.each([
    ['another spelling', (user: string) => `@${user}-NOW`],
    ['a former handle', (user: string) => user],
    ['another spelling of a former handle', (user: string) => `@${user.toUpperCase()}`],
  ])('the address with %s leads to the account under its present handle', async (_, nameOf) => {
    const { alice, bob, carol } = await createWorld(app)
    await app.services.follows.follow(handle(bob), handle(carol))
    await rename(bob)
    const [named, now] = [`/users/${nameOf(bob)}`, `/users/${bob}-now`]
    const { page } = await open(alice, { path: named, polls: false })
    const site = new URL(page.url()).origin
    await page.getByRole('heading', { level: 1, name: bob }).waitFor()
    await expect.poll(() => pathOf(page)).toBe(now)
    for (const [list, title] of [
      ['followers', 'Followers of'],
      ['following', 'Followed by'],
    ]) {
      await page.goto(`${site}${named}/${list}`)
      await page.getByTestId('person').first().waitFor()
      await expect.poll(() => pathOf(page)).toBe(`${now}/${list}`)
      await expect.poll(() => page.title()).toBe(`${title} @${bob}-now · Feedline`)
    }
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByText('No posts yet').waitFor()
    await page.goBack()
    await page.getByTestId('person').first().waitFor()
    expect(await pathOf(page)).toBe(`${now}/following`)
  })
})
