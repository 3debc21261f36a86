import { EditProfile, Loading, type NewAccount, type ProfileChanges } from '@feedline/example-ui'
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay'
import type { AccountCreateUserMutation } from './__generated__/AccountCreateUserMutation.graphql'
import type { AccountHandleQuery } from './__generated__/AccountHandleQuery.graphql'
import type { AccountQuery } from './__generated__/AccountQuery.graphql'
import type { AccountUpdateUserMutation } from './__generated__/AccountUpdateUserMutation.graphql'
import { usePageData } from './boundary'
import { useAction } from './environment'
import { readAgain } from './Follow'

/** Creates and changes the account of the viewer. */
export function useAccount() {
  const environment = useRelayEnvironment()
  const create = useAction<AccountCreateUserMutation>(graphql`
    mutation AccountCreateUserMutation($input: CreateUserInput!) {
      createUser(input: $input) { viewer { ...main_viewer } }
    }
  `)
  const update = useAction<AccountUpdateUserMutation>(graphql`
    mutation AccountUpdateUserMutation($input: UpdateUserInput!) {
      updateUser(input: $input) { user { id handle name bio avatarUrl bannerUrl } }
    }
  `)
  const query = graphql`
    query AccountHandleQuery($handle: String!) { isHandleAvailable(handle: $handle) }
  `
  return {
    createUser: (account: NewAccount, clientMutationId: string) =>
      create({ ...account, clientMutationId }, { updater: readAgain }),
    updateUser: (changes: ProfileChanges, clientMutationId: string) =>
      update({ ...changes, clientMutationId }),
    isHandleAvailable: async (handle: string) => {
      const answer = fetchQuery<AccountHandleQuery>(environment, query, { handle })
      return (await answer.toPromise())?.isHandleAvailable
    },
  }
}

/** The form of the viewer's profile. */
export function EditPage() {
  const { viewer } = usePageData<AccountQuery>(
    graphql`
      query AccountQuery {
        viewer { user { id handle name bio avatarUrl bannerUrl } }
      }
    `,
    {},
  )
  const { updateUser, isHandleAvailable } = useAccount()
  if (!viewer?.user) return <Loading />
  return (
    <EditProfile user={viewer.user} onSave={updateUser} isHandleAvailable={isHandleAvailable} />
  )
}
