import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

/** The examples, one folder for each app. */
export const examplesFolder = join(import.meta.dirname, '../examples')

export interface SiteOptions {
  /** The folder of the example, such as `apollo`. `npm run build` has been run in it. */
  readonly example: string
  /** The URL of GraphQL for pages of the site. */
  readonly serverUrl: string
  /** Seconds between two polls. */
  readonly pollSeconds: number
  /** 0: any free port. */
  readonly port: number
}

/** A server of files. */
export interface Site extends AsyncDisposable {
  /** `http://localhost:…`, without a slash at the end. */
  readonly url: string
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** Serves a built example on localhost, with these settings. Paths without a file get `index.html`. */
export async function serveExample(options: SiteOptions): Promise<Site> {
  const folder = join(examplesFolder, options.example, 'dist')
  const page = withSettings(await readFile(join(folder, 'index.html'), 'utf8'), {
    'feedline-server': options.serverUrl,
    'feedline-poll-seconds': String(options.pollSeconds),
  })
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname)
    const type = path === '/index.html' ? undefined : types[extname(path)]
    const file = type && (await readFile(join(folder, path)).catch(() => undefined))
    const cacheControl = file ? 'public, max-age=31536000, immutable' : 'no-cache'
    response.setHeader('cache-control', cacheControl)
    response.setHeader('content-type', file ? (type ?? '') : (types['.html'] ?? ''))
    response.end(file ?? page)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, 'localhost', resolve)
  })
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const withSettings = (page: string, settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings).reduce(
    (text, [name, value]) =>
      text.replace(new RegExp(`(<meta name="${name}" content=")[^"]*`), `$1${value}`),
    page,
  )
