import { accessSync, constants } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether this machine has Chromium: `CHROMIUM`, or /usr/bin/chromium. */
export const hasChromium = isExecutable(executablePath)
if (!hasChromium) console.log(`clients: no Chromium at ${executablePath}, skipped`)

/** Starts a headless Chromium. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
