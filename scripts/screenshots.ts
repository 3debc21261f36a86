import { join } from 'node:path'
import { chromium } from 'playwright-core'

// Takes the pictures of docs/images from a running demo: npm run demo, then npm run screenshots.

const url = process.argv[2] ?? 'http://localhost:5173'
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const folder = join(import.meta.dirname, '../docs/images')

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })

interface Picture {
  readonly file: string
  readonly path: string
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  readonly height: number
  readonly isPhone?: true
}

async function takePicture({ file, path, colorScheme, isPhone, ...viewport }: Picture) {
  const context = await browser.newContext({
    viewport,
    colorScheme,
    deviceScaleFactor: isPhone ? 2 : 1,
  })
  await context.addInitScript("localStorage.setItem('feedline.subject', 'alice')")
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  await page.goto(`${url}${path}`)
  await page.getByTestId('post').first().waitFor()
  // The first poll with news comes when someone has written.
  if (path === '/') await page.getByRole('status').getByRole('button').waitFor()
  await page.screenshot({ path: join(folder, file) })
  await context.close()
}

const [desktop, phone] = [
  { width: 1000, height: 760 },
  { width: 390, height: 760, isPhone: true as const },
]
await takePicture({ file: 'demo-desktop.png', path: '/', colorScheme: 'light', ...desktop })
await takePicture({ file: 'demo-profile.png', path: '/users/bob', colorScheme: 'dark', ...desktop })
await takePicture({ file: 'demo-phone.png', path: '/', colorScheme: 'dark', ...phone })
await browser.close()
