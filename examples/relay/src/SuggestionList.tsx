import { guideHandle, reportProblem, Suggestions } from '@feedline/example-ui'
import { graphql } from 'react-relay'
import type { SuggestionListQuery } from './__generated__/SuggestionListQuery.graphql'
import { usePageData } from './boundary'
import { useFollow } from './Follow'

/** Users whom the viewer may want to follow. The store keeps them for the visit. */
export function SuggestionList() {
  const { viewer, user: guide } = usePageData<SuggestionListQuery>(
    graphql`
      query SuggestionListQuery($guide: String!) {
        viewer {
          suggestions(first: 10) {
            edges { commonCount node { id handle name avatarUrl isViewer viewerFollows } }
          }
        }
        user(handle: $guide) {
          id handle name avatarUrl isViewer viewerFollows
          following(first: 10) {
            edges { node { id handle name avatarUrl isViewer viewerFollows } }
          }
        }
      }
    `,
    { guide: guideHandle },
  )
  const follow = useFollow()
  return (
    <Suggestions
      edges={viewer?.suggestions.edges}
      guide={guide}
      onFollow={(user) => follow(user).catch(reportProblem)}
    />
  )
}
