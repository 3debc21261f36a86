import { readdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

// Copies the marked regions of the examples into the documents. With --check, it writes nothing and
// fails if one differs.
const root = join(import.meta.dirname, '..')
const documents = (await readdir(join(root, 'docs/how-to'))).map((file) => `docs/how-to/${file}`)
const snippet = /^<!-- (\S+)#(\S+) -->\n\n```\w+\n(?:[\s\S]*?\n)??```$/gm
const languages: Readonly<Record<string, string>> = { '.py': 'python', '.rs': 'rust' }

/**
 * The lines between `#region NAME` and `#endregion`, in comments, without the indentation that all
 * of them have.
 */
function regionOf(path: string, source: string, name: string): string {
  const [, body] =
    new RegExp(`(?://|#) #region ${name}\\n([\\s\\S]*?)\\n\\s*(?://|#) #endregion`).exec(source) ??
    []
  if (body === undefined) throw new Error(`${path} has no region ${name}`)
  const lines = body.split('\n')
  const indents = lines.filter((line) => line !== '').map((line) => line.search(/\S/))
  return lines.map((line) => line.slice(Math.min(...indents))).join('\n')
}

for (const document of documents) {
  const file = join(root, document)
  const committed = await readFile(file, 'utf8')
  const snippets = new Map<string, string>()
  for (const [whole, path = '', name = ''] of committed.matchAll(snippet)) {
    const region = regionOf(path, await readFile(join(root, path), 'utf8'), name)
    const language = languages[extname(path)] ?? extname(path).slice(1)
    snippets.set(whole, `<!-- ${path}#${name} -->\n\n\`\`\`${language}\n${region}\n\`\`\``)
  }
  const text = committed.replaceAll(snippet, (whole) => snippets.get(whole) ?? whole)
  if (!process.argv.includes('--check')) {
    await writeFile(file, text)
  } else if (committed !== text) {
    console.error(`${document} differs from the examples: run npm run docs:emit`)
    process.exitCode = 1
  }
}
