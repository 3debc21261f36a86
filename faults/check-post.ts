import { type Check, compareCount, judge, reportTwice } from './check.ts'
import { isAlive, type Post } from './model.ts'

const countsDocument = `query($id: ID!) {
  node(id: $id) { ... on Post { likeCount commentCount shareCount } }
}`

/** Compares what was done to one post with the model: its lists and its counters. */
export async function checkPost(check: Check, post: Post): Promise<void> {
  const { model, lists, journal } = check
  const { id } = post
  const author = model.users.get(post.author)
  if (id === undefined || !author || !isAlive(post) || !isAlive(author)) return
  const list = (name: string, node: string) =>
    lists.ofField({ root: `node(id: "${id}")`, type: 'Post', list: name, node })
  const [{ node: counts }, likes, shares, comments] = await Promise.all([
    lists.query({ document: countsDocument, variables: { id } }),
    list('likes', 'user { handle }'),
    list('shares', 'user { handle }'),
    list('comments', 'id text user { handle }'),
  ])
  compareCount(check, counts?.likeCount, likes.length, `likeCount of ${post.text}`)
  compareCount(check, counts?.shareCount, shares.length, `shareCount of ${post.text}`)
  compareCount(check, counts?.commentCount, comments.length, `commentCount of ${post.text}`)

  const lives = (handle: string) => {
    const user = model.users.get(handle)
    return user !== undefined && isAlive(user)
  }
  for (const [name, registers, found] of [
    ['like', post.likes, likes],
    ['share', post.shares, shares],
  ] as const) {
    const of = `${name}s of ${post.text}`
    const users = reportTwice(
      check,
      found.map(({ user }) => String(user?.handle)),
      of,
    )
    for (const [handle, register] of registers) {
      if (lives(handle))
        judge(check, register, users.has(handle), `the ${name} of ${handle} on ${post.text}`)
    }
    for (const handle of users) {
      if (registers.has(handle) && lives(handle)) continue
      journal.violate('drift', performance.now(), `${of}: ${handle}, who is deleted or never acted`)
    }
  }
  const texts = reportTwice(
    check,
    comments.map(({ text }) => String(text)),
    `comments on ${post.text}`,
  )
  for (const [text, comment] of post.comments) {
    if (lives(comment.author)) judge(check, comment.live, texts.has(text), `the comment ${text}`)
    else if (texts.has(text)) {
      const detail = `the comment ${text} of ${comment.author}, who is deleted`
      journal.violate('drift', performance.now(), detail)
    }
  }
}
