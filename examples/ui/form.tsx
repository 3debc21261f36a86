import {
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { Heading } from './address'
import { messageOf } from './problems'
import { isHandle } from './session'

interface FormProps {
  readonly title: string
  readonly heading: string
  readonly hint: string
  readonly button: string
  /** Why it was refused, if it was, but for what is wrong with a field. */
  readonly problem?: unknown
  readonly isSending?: boolean
  readonly onSend: (fields: FormData) => unknown
  readonly children?: ReactNode
  /** Beside the button. */
  readonly action?: ReactNode
}

/** True while a form is sent. Its fields cannot be changed then, for a refusal moves the focus to what was refused. */
const IsSending = createContext(false)

/** A page that is a form. */
export function Form(props: FormProps) {
  const { title, heading, hint, button, problem, isSending, onSend, children, action } = props
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onSend(new FormData(event.currentTarget))
  }
  return (
    <form className="form" onSubmit={send}>
      <Heading title={title}>{heading}</Heading>
      <p className="quiet">{hint}</p>
      <IsSending value={isSending === true}>{children}</IsSending>
      {problem ? (
        <p role="alert" className="over">
          {messageOf(problem)}
        </p>
      ) : null}
      <button type="submit" className="primary" disabled={isSending}>
        {button}
      </button>
      {action}
    </form>
  )
}

interface Labelled {
  readonly label: string
  /** What is wrong with the value. */
  readonly mistake?: string | undefined
}

type FieldProps = Labelled &
  (
    | ({ readonly lines?: undefined } & InputHTMLAttributes<HTMLInputElement>)
    | ({ readonly lines: number } & TextareaHTMLAttributes<HTMLTextAreaElement>)
  )

/** A field with its label. A mistake is announced, and belongs to the field. */
export function Field({ label, mistake = '', ...input }: FieldProps) {
  const id = useId()
  const mistakeId = `${id}-mistake`
  const shared = {
    id,
    readOnly: useContext(IsSending),
    'aria-invalid': mistake !== '',
    'aria-describedby': mistake ? mistakeId : undefined,
  }
  return (
    <>
      <label htmlFor={id}>{label}</label>
      {input.lines === undefined ? (
        <input {...input} {...shared} />
      ) : (
        <LinesField {...input} {...shared} />
      )}
      {mistake ? (
        <p id={mistakeId} role="alert" className="over">
          {mistake}
        </p>
      ) : null}
    </>
  )
}

const LinesField = ({
  lines,
  ...input
}: { lines: number } & TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <textarea {...input} rows={lines} />
)

interface HandleProps {
  readonly mistake: string | undefined
  readonly suggested?: string
  /** Is called with a handle when the field is left. */
  readonly onLeave?: (handle: string, isStill: () => boolean) => void
}

export const HandleField = ({ mistake, suggested, onLeave }: HandleProps) => (
  <Field
    label="Handle"
    name="handle"
    required
    autoCapitalize="none"
    autoComplete="username"
    spellCheck={false}
    defaultValue={suggested}
    mistake={mistake}
    onBlur={({ target }) => {
      const handle = toHandle(target.value)
      if (isHandle(handle)) onLeave?.(handle, () => toHandle(target.value) === handle)
    }}
  />
)

/** What a user wrote as a handle, as the server reads it. */
export const toHandle = (text: unknown): string =>
  String(text).trim().replace(/^@/, '').toLowerCase()

export const handleRule =
  'A handle has 1 to 64 letters from a to z, digits, dots, hyphens and underscores. It begins and ends with a letter or a digit.'

/** Whether the server would give a handle to the viewer now. */
export type HandleCheck = (handle: string) => Promise<boolean | undefined>

/** Says that a handle is not available. A failed check says nothing: the server decides when the form is sent. */
export async function checkHandle(isHandleAvailable: HandleCheck, handle: string): Promise<string> {
  const isAvailable = await isHandleAvailable(handle).catch(() => true)
  return isAvailable === false ? `The handle "${handle}" is not available.` : ''
}

/** What is wrong with the fields of a form, by their names. */
type Mistakes = Readonly<Record<string, string>>

/** What calls a function when no press is under way: what moves in between would make it miss its button. */
function useAfterPress(): (change: () => void) => void {
  const press = useRef({ isUnderWay: false, waiting: [] as (() => void)[] })
  useEffect(() => {
    const begin = () => {
      press.current.isUnderWay = true
    }
    const end = () => {
      press.current.isUnderWay = false
      // The click comes after the end of the press.
      for (const change of press.current.waiting.splice(0)) setTimeout(change)
    }
    const listeners = { pointerdown: begin, pointerup: end, pointercancel: end }
    for (const [type, listener] of Object.entries(listeners)) addEventListener(type, listener)
    return () => {
      for (const [type, listener] of Object.entries(listeners)) removeEventListener(type, listener)
    }
  }, [])
  return (change) => {
    if (press.current.isUnderWay) press.current.waiting.push(change)
    else change()
  }
}

/**
 * Why a form was refused: what is wrong with its fields, and any other problem. A refusal moves the focus to the first
 * wrong field of the element with the `ref`.
 * @param labels of the fields, by their names.
 */
export function useRefusal(labels: Mistakes) {
  const ref = useRef<HTMLDivElement>(null)
  const [mistakes, setMistakes] = useState<Mistakes>({})
  const [problem, setProblem] = useState<unknown>()
  const [refusals, setRefusals] = useState(0)
  const afterPress = useAfterPress()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each refusal moves the focus.
  useEffect(() => {
    ref.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [refusals])
  const refuse = (wrong: Mistakes, reason?: unknown) => {
    setMistakes(wrong)
    setProblem(reason)
    setRefusals((count) => count + 1)
  }
  return {
    ...{ ref, mistakes, problem, refuse },
    refuseBy: (error: unknown) => {
      const wrong = mistakesOf(error, labels)
      refuse(wrong ?? {}, wrong ? undefined : error)
    },
    /** Says what is wrong with one field, and leaves the focus where it is. */
    note: (name: string, mistake: string) =>
      afterPress(() => setMistakes((others) => ({ ...others, [name]: mistake }))),
  }
}

/**
 * What the server says is wrong with fields.
 * @param error whose `cause` is the `extensions` of the server's error.
 * @param labels of the fields, by their names. Nothing, if it is about anything else.
 */
function mistakesOf(error: unknown, labels: Mistakes): Mistakes | undefined {
  const { message, cause } = error as Error & { readonly cause?: WrongArguments }
  const { argument, arguments: wrong } = cause ?? {}
  const sentences = wrong?.map((one) => [one.argument, one.message] as const)
  const all = sentences ?? (argument ? [[argument, message] as const] : [])
  const mistakes = all.map(([path, sentence]) => {
    const name = path.replace('input.', '')
    return [name, sentences ? `${labels[name]} ${sentence}.` : sentence] as const
  })
  const isComplete = mistakes.length > 0 && mistakes.every(([name]) => name in labels)
  return isComplete ? Object.fromEntries(mistakes) : undefined
}

interface WrongArguments {
  readonly argument?: string
  readonly arguments?: readonly { readonly argument: string; readonly message: string }[]
}
