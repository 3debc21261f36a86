import { useQuery } from '@apollo/client/react'
import { ViewerDocument } from '@feedline/client'
import { EditProfile, Loading, Problem } from '@feedline/example-ui'
import { useActions } from './actions'

/** The form of the viewer's profile. */
export function EditPage() {
  const { data, error, refetch } = useQuery(ViewerDocument)
  const { updateUser, isHandleAvailable } = useActions()
  const user = data?.viewer?.user
  if (error && !user) return <Problem error={error} onRetry={() => refetch()} />
  if (!user) return <Loading />
  return <EditProfile user={user} onSave={updateUser} isHandleAvailable={isHandleAvailable} />
}
