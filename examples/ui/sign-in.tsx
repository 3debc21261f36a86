import { useState } from 'react'
import { arrive } from './address'
import { useDraftId } from './draft-id'
import {
  checkHandle,
  Field,
  Form,
  type HandleCheck,
  HandleField,
  handleRule,
  toHandle,
  useRefusal,
} from './form'
import { isHandle, signIn, signInAs, useSession, useViewer } from './session'
import { signInUrl } from './settings'

/** Asks who the viewer is. */
export const SignIn = () => (signInUrl ? <ProviderSignIn /> : <DevelopmentSignIn />)

const welcome = { title: 'Sign in', heading: 'Welcome to Feedline', button: 'Sign in' }

function ProviderSignIn() {
  const { problem } = useSession()
  const [failure, setFailure] = useState<unknown>()
  return (
    <Form
      {...welcome}
      hint="You sign in at the provider of this site."
      problem={failure ?? problem}
      onSend={() => signIn(arrive).catch(setFailure)}
    />
  )
}

function DevelopmentSignIn() {
  const { problem } = useSession()
  const [mistake, setMistake] = useState('')
  const send = (fields: FormData) => {
    const subject = toHandle(fields.get('handle'))
    if (!isHandle(subject)) return setMistake(handleRule)
    arrive()
    signInAs(subject)
  }
  return (
    <Form
      {...welcome}
      hint="This server runs in development: choose any handle, without a password."
      problem={problem}
      onSend={send}
    >
      <HandleField mistake={mistake} />
    </Form>
  )
}

export interface NewAccount {
  readonly handle: string
  readonly name: string
}

export interface SignUpProps {
  /** Creates the account of the viewer. Throws why the server refuses it. */
  readonly onCreate: (account: NewAccount, clientMutationId: string) => Promise<unknown>
  readonly isHandleAvailable: HandleCheck
}

const accountLabels = { handle: 'Handle', name: 'Name' }

/** Asks for the handle and the name of a viewer who has no account yet. */
export function SignUp({ onCreate, isHandleAvailable }: SignUpProps) {
  const viewer = useViewer()
  const { ref, mistakes, problem, refuse, refuseBy, note } = useRefusal(accountLabels)
  const [isSending, setSending] = useState(false)
  const { idOf } = useDraftId()
  const send = async (fields: FormData) => {
    const handle = toHandle(fields.get('handle'))
    const name = String(fields.get('name')).trim()
    if (!isHandle(handle)) return refuse({ handle: handleRule })
    setSending(true)
    try {
      await onCreate({ handle, name }, idOf(`${handle} ${name}`))
      arrive()
    } catch (error) {
      setSending(false)
      refuseBy(error)
    }
  }
  const check = async (handle: string, isStill: () => boolean) => {
    const mistake = await checkHandle(isHandleAvailable, handle)
    if (isStill()) note('handle', mistake)
  }
  return (
    <Form
      title="New account"
      heading="New account"
      hint="Choose a handle and a name. You can change both later, on your profile."
      button="Create account"
      problem={problem}
      isSending={isSending}
      onSend={send}
    >
      <div ref={ref} className="fields">
        <HandleField
          mistake={mistakes.handle}
          suggested={signInUrl ? '' : viewer}
          onLeave={check}
        />
        <Field
          label={accountLabels.name}
          name="name"
          required
          autoComplete="name"
          mistake={mistakes.name}
        />
      </div>
    </Form>
  )
}
