import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

/** A tab of the playground. Its title is the name of its operation. */
interface Example {
  readonly as: 'alice' | 'bob'
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

const examples: readonly Example[] = [
  {
    as: 'alice',
    query: `# Feedline. The headers below say who you are: in development "Dev <handle>".
# Each tab is one request, by alice or bob. Run them from left to right.

mutation AliceJoins {
  createUser(input: { name: "Alice" }) {
    user { handle name }
  }
}
`,
  },
  {
    as: 'bob',
    query: `mutation BobJoins {
  createUser(input: { name: "Bob" }) {
    user { handle name }
  }
}
`,
  },
  {
    as: 'alice',
    query: `mutation AliceFollowsBob {
  followUser(input: { user: { handle: "bob" } }) {
    changed
    viewer { user { followingCount } }
  }
}
`,
  },
  {
    as: 'bob',
    query: `mutation BobPosts {
  createPost(input: { text: "Hello, Feedline" }) {
    post { id text createdAt }
  }
}
`,
  },
  {
    as: 'alice',
    query: `# Copy the id of a post for AliceLikes, and the pollCursor for AlicePolls.

query AliceReads {
  timeline(first: 10) {
    edges {
      node {
        id
        text
        likeCount
        viewerHasLiked
        author { handle name }
      }
    }
    pageInfo { hasNextPage endCursor }
    pollCursor
  }
}
`,
  },
  {
    as: 'alice',
    query: `# Replace the variable by the pollCursor of AliceReads, post as bob, and run this again.

query AlicePolls($since: String!) {
  timelineNews(since: $since) {
    count
    authors { handle }
    changed
    pollCursor
  }
}
`,
    variables: { since: 'the pollCursor' },
  },
  {
    as: 'alice',
    query: `# Replace the variable by the id of a post.

mutation AliceLikes($post: ID!) {
  likePost(input: { postId: $post }) {
    changed
    post { likeCount viewerHasLiked }
  }
}
`,
    variables: { post: 'the id' },
  },
  {
    as: 'bob',
    query: `# An error has a code, and names the argument that is wrong.

mutation BobFails {
  createPost(input: { text: "" }) {
    post { id }
  }
}
`,
  },
]

const headersOf = ({ as }: Example) => JSON.stringify({ Authorization: `Dev ${as}` }, null, 2)

/**
 * GraphiQL as one page without external resources, with a tab for each example and a field for the
 * Authorization header.
 */
export function playgroundPage(): string {
  const [first] = examples
  const options = {
    title: 'Feedline',
    endpoint: '/graphql',
    defaultTabs: examples.map((example) => ({
      query: example.query,
      headers: headersOf(example),
      ...(example.variables ? { variables: JSON.stringify(example.variables, null, 2) } : {}),
    })),
    ...(first ? { headers: headersOf(first) } : {}),
    defaultEditorToolsVisibility: 'headers' as const,
    shouldPersistHeaders: true,
    // Otherwise the URL has the query, which opens one more tab at each reload.
    onEditQuery: null,
  }
  return renderGraphiQL(options as Parameters<typeof renderGraphiQL>[0]).replace(
    '<meta charset="utf-8" />',
    (charset) => charset + viewport + style + restoreTab,
  )
}

const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1" />'

/**
 * A tab moves when it gets the focus, so that the first click on it would be lost. On a phone, the
 * answer is below the query.
 */
const style = `<style>
  .graphiql-tab { transform: none !important }
  @media (width <= 720px) {
    .graphiql-container .graphiql-sidebar { --sidebar-width: 44px; padding: 4px }
    .graphiql-container .graphiql-sessions { margin: 4px 4px 4px 0 }
    .graphiql-container .graphiql-session-header { overflow-x: auto }
    .graphiql-container #graphiql-session { flex-direction: column; min-height: 0 }
    .graphiql-container #graphiql-session > * { min-height: 0 }
    .graphiql-container .graphiql-horizontal-drag-bar { display: none }
  }
</style>`

/**
 * GraphiQL stores its tabs at once, but the current query after the first edit. Without it, a
 * reload adds an empty tab.
 */
const restoreTab = `<script>
  const { tabs = [], activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}')
  for (const name of tabs[activeTabIndex] ? ['query', 'variables', 'headers'] : []) {
    localStorage.setItem('graphiql:' + name, tabs[activeTabIndex][name] ?? '')
  }
</script>`
