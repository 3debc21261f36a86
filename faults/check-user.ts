import { type CheckContext, compareCount, compareRegister, reportDuplicates } from './check.ts'
import { isAlive, type User } from './model.ts'

const countsDocument =
  'query($handle: String!) { user(handle: $handle) { followerCount followingCount postCount } }'

/** Compares one user's lists, edges and counters with the model. */
export async function checkUser(check: CheckContext, user: User): Promise<void> {
  const { model, lists, journal } = check
  const { handle } = user
  if (!isAlive(user)) return
  const list = (name: string, node: string) =>
    lists.readField({ root: `user(handle: "${handle}")`, type: 'User', list: name, node })
  const viewerList = (name: string) =>
    lists.readField({ root: 'viewer', type: 'Viewer', list: name, node: 'handle', viewer: handle })
  const [counted, followers, following, posts, mutes, blocks] = await Promise.all([
    lists.sendQuery({ document: countsDocument, variables: { handle } }),
    list('followers', 'handle'),
    list('following', 'handle'),
    list('posts', 'id text'),
    viewerList('mutes'),
    viewerList('blocks'),
  ])
  const counts = counted.user ?? {}
  const handles = (found: typeof followers, name: string) =>
    reportDuplicates(
      check,
      // A mute of a deleted account stays in the list until the account is removed, without a
      // handle.
      found.flatMap((node) => (node.handle === undefined ? [] : [String(node.handle)])),
      `${name} of ${handle}`,
    )

  const followed = handles(following, 'following')
  for (const [other, register] of user.follows) {
    const target = model.users.get(other)
    if (target && isAlive(target)) {
      compareRegister(check, register, followed.has(other), `the follow ${handle} > ${other}`)
    }
  }
  for (const other of followed) {
    check.edges.following.add(`${handle} > ${other}`)
    const target = model.users.get(other)
    if (target && isAlive(target)) continue
    journal.recordViolation(
      'drift',
      performance.now(),
      `${handle} follows ${other}, an account that does not exist`,
    )
  }
  for (const other of handles(followers, 'followers')) {
    check.edges.followers.add(`${other} > ${handle}`)
  }
  compareCount(check, counts.followingCount, following.length, `followingCount of ${handle}`)
  compareCount(check, counts.followerCount, followers.length, `followerCount of ${handle}`)
  compareCount(check, counts.postCount, posts.length, `postCount of ${handle}`)

  for (const [name, registers, found] of [
    ['mute', user.mutes, handles(mutes, 'mutes')],
    ['block', user.blocks, handles(blocks, 'blocks')],
  ] as const) {
    for (const [other, register] of registers) {
      const target = model.users.get(other)
      if (target && isAlive(target)) {
        compareRegister(check, register, found.has(other), `the ${name} ${handle} > ${other}`)
      }
    }
  }

  const texts = reportDuplicates(
    check,
    posts.map((node) => String(node.text)),
    `posts of ${handle}`,
  )
  for (const { id, text } of posts) {
    const post = user.posts.get(text)
    if (post) post.id ??= id
    if (!post || post.id !== id) {
      journal.recordViolation(
        'twice',
        performance.now(),
        `${handle} has ${text} as ${id}, not ${post?.id}`,
      )
    }
  }
  for (const [text, post] of user.posts) {
    compareRegister(check, post.live, texts.has(text), `the post ${text} of ${handle}`)
  }
}
