import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { hasChromium, launchChromium } from './chromium.ts'
import { TrafficWatch } from './traffic.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0)
  ends.push(() => server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

test.skipIf(!hasChromium)(
  'a page settles after requests that it aborted before their preflights',
  async () => {
    const site = await listen((_, answer) =>
      answer.setHeader('content-type', 'text/html').end('<p>'),
    )
    const api = await listen((_, answer) => {
      answer.setHeader('access-control-allow-origin', '*')
      answer.setHeader('access-control-allow-headers', 'authorization')
      answer.setHeader('access-control-max-age', '0').end('{}')
    })
    const browser = await launchChromium()
    ends.push(() => browser.close())
    const page = await browser.newPage()
    const traffic = await TrafficWatch.open(page)
    await page.goto(site)
    await page.evaluate(`(async () => {
      for (let n = 0; n < 300; n++) {
        const abort = new AbortController()
        const init = { headers: { authorization: 'Bearer' }, signal: abort.signal }
        fetch('${api}/graphql?n=' + n, init).catch(() => {})
        await (n % 3 ? new Promise((resolve) => setTimeout(resolve, n % 7)) : undefined)
        abort.abort()
      }
    })()`)
    await traffic.settle()
    expect(traffic.take().preflights).toBeGreaterThan(0)
  },
)
