import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react'
import { reportProblem } from './problems.tsx'

/** The most characters of a post and of a comment, as a server counts them: code points. */
const charactersMax = 300

export interface ComposerProps {
  readonly label: string
  readonly button: string
  /** Sends the text. If it fails, the text stays, and the problem is reported. */
  readonly onSend: (text: string) => Promise<unknown>
}

/** A text field with a button. Ctrl or Command with Enter sends too. */
export function Composer({ label, button, onSend }: ComposerProps) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const left = charactersMax - [...text].length
  const isReady = text.trim() !== '' && left >= 0 && !isSending
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (!isReady) return
    setSending(true)
    await onSend(text.trim()).then(() => setText(''), reportProblem)
    setSending(false)
  }
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
  }
  return (
    <form className="composer" onSubmit={send} ref={form}>
      <label htmlFor={id} className="hidden">
        {label}
      </label>
      <textarea
        id={id}
        rows={2}
        value={text}
        placeholder={label}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={sendByKey}
      />
      <div className="row">
        <span className={left < 0 ? 'over' : 'quiet'}>{left < 60 ? `${left} left` : ''}</span>
        <button type="submit" className="primary" disabled={!isReady}>
          {button}
        </button>
      </div>
    </form>
  )
}
