import { type FormEvent, useId, useState } from 'react'
import { arrive, Heading } from './address'
import { isHandle, signIn } from './session'

interface FieldProps {
  readonly title: string
  readonly heading: string
  readonly hint: string
  readonly label: string
  readonly button: string
  /** Returns what is wrong with the value, if anything is. */
  readonly onSend: (value: string) => string | undefined
}

function OneField({ title, heading, hint, label, button, onSend }: FieldProps) {
  const id = useId()
  const [mistake, setMistake] = useState('')
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const value = String(new FormData(event.currentTarget).get('value')).trim()
    if (value) setMistake(onSend(value) ?? '')
  }
  return (
    <form className="sign-in" onSubmit={send}>
      <Heading title={title}>{heading}</Heading>
      <p className="quiet">{hint}</p>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name="value"
        required
        autoCapitalize="none"
        autoComplete="username"
        aria-invalid={mistake !== ''}
        aria-describedby={mistake ? `${id}-mistake` : undefined}
      />
      {mistake ? (
        <p id={`${id}-mistake`} role="alert" className="over">
          {mistake}
        </p>
      ) : null}
      <button type="submit" className="primary">
        {button}
      </button>
    </form>
  )
}

const handleRule =
  'A handle has 1 to 64 letters from a to z, digits, dots, hyphens and underscores. It begins and ends with a letter or a digit.'

/** Asks who the viewer is. */
export const SignIn = () => (
  <OneField
    title="Sign in"
    heading="Welcome to Feedline"
    hint="This server runs in development: choose any handle, without a password."
    label="Handle"
    button="Sign in"
    onSend={(value) => {
      const handle = value.replace(/^@/, '').toLowerCase()
      if (!isHandle(handle)) return handleRule
      arrive()
      signIn(handle)
      return undefined
    }}
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
    title="New account"
    heading={`Hello @${handle}`}
    hint="There is no account with this handle yet."
    label="Name"
    button="Create account"
    onSend={(name) => {
      arrive()
      onCreate(name)
      return undefined
    }}
  />
)
