import { SuggestionsDocument } from '@feedline/client'
import { guideHandle, Suggestions } from '@feedline/example-ui'
import { useQuery } from 'urql'
import { useActions } from './actions'

/** Users whom the viewer may want to follow. The cache keeps them for the visit. */
export function SuggestionList() {
  const [{ data }] = useQuery({
    query: SuggestionsDocument,
    variables: { guide: guideHandle },
  })
  const { follow } = useActions()
  return (
    <Suggestions edges={data?.viewer?.suggestions.edges} guide={data?.user} onFollow={follow} />
  )
}
