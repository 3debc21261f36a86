/** The answer to a mutation: its payload, or the code of its error. */
type Answer = { readonly payload: unknown } | { readonly code: string }

/** A mutation at one server, and its repeat at another. */
export interface Repeat {
  readonly name: string
  readonly first: Answer
  readonly repeated: Answer
}

/** The mutations whose result holds a text, which is not stored. */
export const textMutations = [
  'createUser',
  'updateUser',
  'setFollowGroups',
  'createPost',
  'addComment',
]

async function send(url: string, as: string, query: string) {
  const headers = { 'content-type': 'application/json', authorization: `Dev ${as}` }
  const body = JSON.stringify({ query })
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  return (await answer.json()) as {
    readonly data?: Record<string, unknown> | null
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[]
  }
}

/** The mutation that opens the account of a viewer, under the key of the first of {@link repeatMutations}. */
const opening =
  'mutation { createUser(input: { bio: null name: "First" clientMutationId: "createUser" }) { user { name bio } } }'

/** Opens the accounts of {@link repeatMutations} by the previous release, which opens none after the migration. */
export async function openAccountsOf(viewer: string, { url }: { readonly url: string }) {
  for (const as of [viewer, `${viewer}-other`]) await send(url, as, opening)
}

/**
 * Runs every mutation of the schema as a user with a new account at one server, and repeats each at another. Servers of the previous
 * release name other users by `handle`.
 * @returns the answers, and the user's posts, comments and followees after all but the deletions.
 */
export async function repeatMutations(
  first: { readonly url: string },
  second: { readonly url: string },
  previous: { readonly url: string },
  viewer: string,
) {
  const other = `${viewer}-other`
  const repeats: Repeat[] = []
  const mutate = async (name: string, input: string, fields: string) => {
    const answerOf = async ({ url }: { readonly url: string }): Promise<Answer> => {
      const user = url === previous.url ? `handle: "${other}"` : `user: { handle: "${other}" }`
      const given = `${input.replace('USER', user)} clientMutationId: "${name}"`
      const query = `mutation { ${name}(input: { ${given} }) { ${fields} } }`
      const { data, errors } = await send(url, viewer, query)
      return errors ? { code: errors[0]?.extensions.code ?? '' } : { payload: data?.[name] }
    }
    const repeat = { name, first: await answerOf(first), repeated: await answerOf(second) }
    repeats.push(repeat)
    return repeat.first as { readonly payload: Record<string, { readonly id: string }> }
  }
  await mutate('createUser', 'bio: null name: "First"', 'user { name bio }')
  await mutate('updateUser', 'bio: "new" name: "Second"', 'user { name bio }')
  for (const name of ['followUser', 'setFollowGroups', 'unfollowUser', 'muteUser', 'unmuteUser']) {
    const groups = name === 'setFollowGroups' ? 'groups: ["b", "a"]' : ''
    await mutate(name, `${groups} USER`, groups ? 'groups' : 'changed')
  }
  for (const name of ['blockUser', 'unblockUser']) await mutate(name, 'USER', 'changed')
  const attachment = '{ kind: IMAGE url: "https://a.example/b" alt: "" }'
  const created = await mutate(
    'createPost',
    `attachments: [${attachment}] text: "a post"`,
    'post { id text }',
  )
  const postId = `postId: "${created.payload.post?.id}"`
  for (const name of ['likePost', 'unlikePost', 'sharePost', 'unsharePost'])
    await mutate(name, postId, 'changed')
  const added = await mutate('addComment', `text: "a comment" ${postId}`, 'comment { id text }')
  const counts = 'posts(first: 9) { edges { node { text commentCount } } }'
  const { data } = await send(first.url, viewer, `{ user(handle: "${viewer}") { ${counts} } }`)
  await mutate('deleteComment', `commentId: "${added.payload.comment?.id}"`, 'changed')
  await mutate('deletePost', postId, 'changed')
  await mutate('deleteUser', '', 'changed')
  return { repeats, user: data?.user }
}
