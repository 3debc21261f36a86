import { type FormEvent, type InputHTMLAttributes, type ReactNode, useId, useState } from 'react'
import { arrive, Heading } from './address'
import { useDraftId } from './draft-id'
import { messageOf } from './problems'
import { isHandle, signIn, signInAs, useSession, useViewer } from './session'
import { signInUrl } from './settings'

interface FormProps {
  readonly title: string
  readonly heading: string
  readonly hint: string
  readonly button: string
  /** Why it was refused, if it was. */
  readonly problem?: unknown
  readonly isSending?: boolean
  readonly onSend: (fields: FormData) => unknown
  readonly children?: ReactNode
}

function Form({ title, heading, hint, button, problem, isSending, onSend, children }: FormProps) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onSend(new FormData(event.currentTarget))
  }
  return (
    <form className="sign-in" onSubmit={send}>
      <Heading title={title}>{heading}</Heading>
      <p className="quiet">{hint}</p>
      {children}
      {problem ? (
        <p role="alert" className="over">
          {messageOf(problem)}
        </p>
      ) : null}
      <button type="submit" className="primary" disabled={isSending}>
        {button}
      </button>
    </form>
  )
}

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string
  /** What is wrong with the value. */
  readonly mistake?: string
}

function Field({ label, mistake = '', ...input }: FieldProps) {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        required
        aria-invalid={mistake !== ''}
        aria-describedby={mistake ? `${id}-mistake` : undefined}
      />
      {mistake ? (
        <p id={`${id}-mistake`} role="alert" className="over">
          {mistake}
        </p>
      ) : null}
    </>
  )
}

interface HandleProps {
  readonly mistake: string
  readonly suggested?: string
  /** Is called with a handle when the field is left. */
  readonly onLeave?: (handle: string, isStill: () => boolean) => void
}

const HandleField = ({ mistake, suggested, onLeave }: HandleProps) => (
  <Field
    label="Handle"
    name="handle"
    autoCapitalize="none"
    autoComplete="username"
    defaultValue={suggested}
    mistake={mistake}
    onBlur={({ target }) => {
      const handle = normalise(target.value)
      if (isHandle(handle)) onLeave?.(handle, () => normalise(target.value) === handle)
    }}
  />
)

const normalise = (text: unknown) => String(text).trim().replace(/^@/, '').toLowerCase()

const handleRule =
  'A handle has 1 to 64 letters from a to z, digits, dots, hyphens and underscores. It begins and ends with a letter or a digit.'

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
    const subject = normalise(fields.get('handle'))
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
  readonly isHandleAvailable: (handle: string) => Promise<boolean | undefined>
}

/** Asks for the handle and the name of a viewer who has no account yet. */
export function SignUp({ onCreate, isHandleAvailable }: SignUpProps) {
  const viewer = useViewer()
  const [mistake, setMistake] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [isSending, setSending] = useState(false)
  const { idOf } = useDraftId()
  const send = async (fields: FormData) => {
    const handle = normalise(fields.get('handle'))
    const name = String(fields.get('name')).trim()
    setFailure(undefined)
    setMistake(isHandle(handle) ? '' : handleRule)
    if (!isHandle(handle)) return
    setSending(true)
    try {
      await onCreate({ handle, name }, idOf(`${handle} ${name}`))
      arrive()
    } catch (error) {
      setFailure(error)
      setSending(false)
    }
  }
  const check = async (handle: string, isStill: () => boolean) => {
    // A failed check says nothing about the handle. The server decides when the account is created.
    const isAvailable = await isHandleAvailable(handle).catch(() => true)
    if (isStill())
      setMistake(isAvailable === false ? `The handle "${handle}" is not available.` : '')
  }
  return (
    <Form
      title="New account"
      heading="New account"
      hint="Choose a handle and a name. You can change both later."
      button="Create account"
      problem={failure}
      isSending={isSending}
      onSend={send}
    >
      <HandleField mistake={mistake} suggested={signInUrl ? '' : viewer} onLeave={check} />
      <Field label="Name" name="name" autoComplete="name" />
    </Form>
  )
}
