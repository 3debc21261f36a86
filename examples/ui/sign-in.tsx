import { type FormEvent, useId } from 'react'
import { signIn } from './session'

interface FieldProps {
  readonly title: string
  readonly hint: string
  readonly label: string
  readonly button: string
  readonly onSend: (value: string) => void
}

function OneField({ title, hint, label, button, onSend }: FieldProps) {
  const id = useId()
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const value = String(new FormData(event.currentTarget).get('value')).trim()
    if (value) onSend(value)
  }
  return (
    <form className="sign-in" onSubmit={send}>
      <h1>{title}</h1>
      <p className="quiet">{hint}</p>
      <label htmlFor={id}>{label}</label>
      <input id={id} name="value" required autoCapitalize="none" autoComplete="username" />
      <button type="submit" className="primary">
        {button}
      </button>
    </form>
  )
}

/** Asks who the viewer is. */
export const SignIn = () => (
  <OneField
    title="Welcome to Feedline"
    hint="This server runs in development: choose any handle, without a password."
    label="Handle"
    button="Sign in"
    onSend={(value) => signIn(value.replace(/^@/, '').toLowerCase())}
  />
)

/** Asks for the name of a viewer who has no account yet. */
export const SignUp = ({
  handle,
  onCreate,
}: {
  handle: string
  onCreate: (name: string) => void
}) => (
  <OneField
    title={`Hello @${handle}`}
    hint="There is no account with this handle yet."
    label="Name"
    button="Create account"
    onSend={onCreate}
  />
)
