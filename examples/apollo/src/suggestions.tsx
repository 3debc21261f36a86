import { useQuery } from '@apollo/client/react'
import { SuggestionsDocument } from '@feedline/client'
import { Suggestions } from '@feedline/example-ui'
import { useActions } from './actions'

/** Users whom the viewer may want to follow. The cache keeps them for the visit. */
export function SuggestionList() {
  const { data } = useQuery(SuggestionsDocument)
  const { follow } = useActions()
  return <Suggestions edges={data?.viewer?.suggestions.edges} onFollow={follow} />
}
