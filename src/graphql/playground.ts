import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

const firstQuery = `# Feedline. The headers below say who you are: in development "Dev <handle>".
# Open your account first, then post and read.

mutation Join {
  createUser(input: { name: "Alice" }) {
    user { handle name }
  }
}

mutation Write {
  createPost(input: { text: "Hello, Feedline" }) {
    post { id createdAt }
  }
}

query Home {
  timeline(first: 10) {
    edges {
      node {
        text
        createdAt
        author { handle name followerCount }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`

/** GraphiQL as one page without external resources, with a field for the Authorization header. */
export const playgroundPage = (): string =>
  renderGraphiQL({
    title: 'Feedline',
    endpoint: '/graphql',
    defaultQuery: firstQuery,
    headers: JSON.stringify({ Authorization: 'Dev alice' }, null, 2),
    defaultEditorToolsVisibility: 'headers',
    shouldPersistHeaders: true,
  })
