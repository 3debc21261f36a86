import { ViewerDocument } from '@feedline/client'
import { EditProfile, Loading, Problem } from '@feedline/example-ui'
import { useQuery } from 'urql'
import { useActions } from './actions'
import { reasonOf } from './client'

/** The form of the viewer's profile. */
export function EditPage() {
  const [{ data, error }, execute] = useQuery({ query: ViewerDocument })
  const { updateUser, isHandleAvailable } = useActions()
  const user = data?.viewer?.user
  const retry = () => execute({ requestPolicy: 'network-only' })
  if (error && !user) return <Problem error={reasonOf(error)} onRetry={retry} />
  if (!user) return <Loading />
  return <EditProfile user={user} onSave={updateUser} isHandleAvailable={isHandleAvailable} />
}
