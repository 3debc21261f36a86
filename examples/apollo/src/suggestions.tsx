import { useQuery } from '@apollo/client/react'
import { SuggestionsDocument } from '@feedline/client'
import { guideHandle, Suggestions } from '@feedline/example-ui'
import { useActions } from './actions'

/** Users whom the viewer may want to follow. The cache keeps them for the visit. */
export function SuggestionList() {
  const { data } = useQuery(SuggestionsDocument, { variables: { guide: guideHandle } })
  const { follow } = useActions()
  return (
    <Suggestions edges={data?.viewer?.suggestions.edges} guide={data?.user} onFollow={follow} />
  )
}
