import * as operations from '@feedline/client'
import { getOperationAST } from 'graphql'
import { useApp } from './app.ts'

/** A new object of a payload, which is null only for a repeated mutation. */
export function existing<Node>(node: Node | null): Node {
  if (node === null) throw new Error('the payload has no object')
  return node
}

/** Gives a test file a server, and requests with the operations of schema/operations. */
export function useOperations(env: Readonly<Record<string, string>> = {}) {
  const app = useApp(env)
  /** The names of the executed operations. */
  const executed = new Set<string>()

  /** As `ask` of the server. Adds the name of the operation to `executed`. */
  const ask: typeof app.ask = async (handle, document, ...variables) => {
    const data = await app.ask(handle, document, ...variables)
    executed.add(getOperationAST(document)?.name?.value ?? '')
    return data
  }

  const inputOf = (handle: string) => ({
    ...{ name: `${handle} by name`, bio: `I am ${handle}` },
    avatarUrl: `https://pictures.example/${handle}`,
  })

  /** Opens accounts. @returns the results, in order. */
  const open = (...handles: readonly string[]) =>
    Promise.all(
      handles.map((handle) =>
        ask(handle, operations.CreateUserDocument, { input: inputOf(handle) }),
      ),
    )

  const follow = (follower: string, handle: string) =>
    ask(follower, operations.FollowUserDocument, { input: { user: { handle } } })

  /** Publishes a post. @returns the post. */
  const publish = async (author: string, text: string) => {
    const { createPost } = await ask(author, operations.CreatePostDocument, { input: { text } })
    return existing(createPost.post)
  }

  return { app, ask, open, follow, publish, executed }
}
