import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import {
  examplesFolder,
  type Site,
  type SiteOptions,
  serveExample,
} from '../../scripts/example-site.ts'
import { type TestApp, useApp } from '../support/app.ts'
import { launchChromium } from './chromium.ts'
import { TrafficWatch } from './traffic.ts'

/** The apps that the tests drive: the folders of examples with a page. */
export const exampleNames = readdirSync(examplesFolder).filter((name) =>
  existsSync(join(examplesFolder, name, 'index.html')),
)

/** How often the apps poll, unless a test polls by itself, in seconds. */
const pollSeconds = 1
export const never = 86_400
/**
 * How long a test waits for what it expects to see, in milliseconds. A failed request is repeated
 * for up to 40 s.
 */
const waitMs = 60_000

export interface OpenOptions {
  /** The path to open. Default: the home timeline. */
  readonly path?: string
  /** False: the page polls only when {@link Viewer.poll} is called. */
  readonly polls?: boolean
  /** The width of the window, in pixels. Below 720, it is that of a phone. Default: 1,200. */
  readonly width?: number
}

/** A browser of its own, in which a user is signed in. */
export interface Viewer {
  readonly page: Page
  readonly traffic: TrafficWatch
  readonly feed: Locator
  readonly posts: Locator
  /** The button of new posts. */
  readonly news: Locator
  readonly alert: Locator
  /** The texts of the posts on the page, in order. */
  readonly texts: () => Promise<string[]>
  /** The article of a post. */
  readonly post: (text: string) => Locator
  /** Waits until the page shows these posts, in order. */
  readonly shows: (texts: readonly string[]) => Promise<void>
  /** Polls at once, and waits for the end of its requests. */
  readonly poll: () => Promise<void>
}

export interface Example {
  readonly app: TestApp
  /** Opens the app in a new browser, as `handle` or anonymously. */
  readonly open: (handle: string | undefined, options?: OpenOptions) => Promise<Viewer>
}

/** Builds an example, and gives a test file the real server and browsers on it. */
export function useExample(name: string): Example {
  const app = useApp()
  return { app, open: useBrowsers(name, app) }
}

/**
 * Builds an example, and gives a test file browsers on it, which use a server that runs from
 * `beforeAll` on.
 */
export function useBrowsers(name: string, app: { readonly url: string }): Example['open'] {
  const open = useSites(name)
  return (handle, { polls = true, ...options } = {}) => {
    const settings = { serverUrl: `${app.url}/graphql`, pollSeconds: polls ? pollSeconds : never }
    const signIn = async (context: BrowserContext) => {
      if (handle === undefined) return
      await context.addInitScript(`localStorage.setItem('feedline.subject', '${handle}')`)
    }
    return open({ ...settings, port: 0 }, signIn, options)
  }
}

/**
 * Opens a page in a new browser, which is prepared before. Pages of the same settings share a site.
 */
export type OpenSite = (
  settings: Omit<SiteOptions, 'example'>,
  prepare: (context: BrowserContext) => Promise<unknown>,
  options?: Omit<OpenOptions, 'polls'>,
) => Promise<Viewer>

/** Builds an example, and gives a test file browsers on sites of it. */
export function useSites(name: string): OpenSite {
  let browser: Browser
  const sites = new Map<string, Site>()
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', 'build', '-w', `examples/${name}`])
    browser = await launchChromium()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  afterAll(async () => {
    await browser?.close()
    for (const site of sites.values()) await site[Symbol.asyncDispose]()
  })

  const siteOf = async (settings: Omit<SiteOptions, 'example'>): Promise<Site> => {
    const key = JSON.stringify(settings)
    const site = sites.get(key) ?? (await serveExample({ example: name, ...settings }))
    sites.set(key, site)
    return site
  }
  return async (settings, prepare, { path = '/', width = 1200 } = {}) => {
    const site = await siteOf(settings)
    const viewport = { width, height: 850 }
    const isPhone = width < 720
    const context = await browser.newContext({ viewport, hasTouch: isPhone, isMobile: isPhone })
    context.setDefaultTimeout(waitMs)
    await prepare(context)
    const page = await context.newPage()
    page.on('pageerror', (error) => console.log(`${name}: ${error.stack}`))
    page.on('dialog', (dialog) => dialog.accept())
    const traffic = await TrafficWatch.open(page)
    await page.goto(site.url + path)
    let polledAt = 0
    const posts = page.getByTestId('post')
    const texts = () => page.getByTestId('post-text').allTextContents()
    return {
      page,
      traffic,
      posts,
      texts,
      feed: page.getByRole('feed'),
      news: page.getByRole('status').getByRole('button'),
      alert: page.getByRole('alert'),
      post: (text) => posts.filter({ has: page.getByText(text, { exact: true }) }),
      shows: (expected) => expect.poll(texts, { timeout: waitMs }).toEqual(expected),
      poll: async () => {
        // Two polls never begin within a second.
        await sleep(polledAt + 1_050 - Date.now())
        polledAt = Date.now()
        await page.evaluate("window.dispatchEvent(new Event('online'))")
        await traffic.settle()
      },
    }
  }
}
