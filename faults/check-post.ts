import { type CheckContext, compareCount, compareRegister, reportDuplicates } from './check.ts'
import { isAlive, type Post } from './model.ts'

const countsDocument = `query($id: ID!) {
  node(id: $id) { ... on Post { likeCount commentCount shareCount } }
}`

/** Compares the lists and counters of one post with the model. */
export async function checkPost(check: CheckContext, post: Post): Promise<void> {
  const { model, lists, journal } = check
  const { id } = post
  const author = model.users.get(post.author)
  if (id === undefined || !author || !isAlive(post) || !isAlive(author)) return
  const list = (name: string, node: string) =>
    lists.readField({ root: `node(id: "${id}")`, type: 'Post', list: name, node })
  const [{ node: counts }, likes, shares, comments] = await Promise.all([
    lists.sendQuery({ document: countsDocument, variables: { id } }),
    list('likes', 'user { handle }'),
    list('shares', 'user { handle }'),
    list('comments', 'id text user { handle }'),
  ])
  compareCount(check, counts?.likeCount, likes.length, `likeCount of ${post.text}`)
  compareCount(check, counts?.shareCount, shares.length, `shareCount of ${post.text}`)
  compareCount(check, counts?.commentCount, comments.length, `commentCount of ${post.text}`)

  const isUserAlive = (handle: string) => {
    const user = model.users.get(handle)
    return user !== undefined && isAlive(user)
  }
  for (const [name, registers, found] of [
    ['like', post.likes, likes],
    ['share', post.shares, shares],
  ] as const) {
    const subject = `${name}s of ${post.text}`
    const users = reportDuplicates(
      check,
      found.map(({ user }) => String(user?.handle)),
      subject,
    )
    for (const [handle, register] of registers) {
      if (isUserAlive(handle))
        compareRegister(
          check,
          register,
          users.has(handle),
          `the ${name} of ${handle} on ${post.text}`,
        )
    }
    for (const handle of users) {
      if (registers.has(handle) && isUserAlive(handle)) continue
      journal.recordViolation(
        'drift',
        performance.now(),
        `${subject}: ${handle}, who is deleted or has sent no such mutation`,
      )
    }
  }
  const texts = reportDuplicates(
    check,
    comments.map(({ text }) => String(text)),
    `comments on ${post.text}`,
  )
  for (const [text, comment] of post.comments) {
    if (isUserAlive(comment.author))
      compareRegister(check, comment.live, texts.has(text), `the comment ${text}`)
    else if (texts.has(text)) {
      const detail = `the comment ${text} of ${comment.author}, who is deleted`
      journal.recordViolation('drift', performance.now(), detail)
    }
  }
}
