import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react'
import { useDraftId } from './draft-id'
import { reportProblem } from './problems'

/** The most characters of a post and of a comment, as the server counts them: an emoji with its parts is one. */
const charactersMax = 300
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })
const countCharacters = (text: string) => [...characters.segment(text)].length

export interface ComposerProps {
  readonly label: string
  readonly button: string
  /**
   * Sends the text. If it fails, the text stays, and the problem is reported. A second attempt with the same text has the
   * same `clientMutationId`, because the first may have taken effect without an answer.
   */
  readonly onSend: (text: string, clientMutationId: string) => Promise<unknown>
}

/** A text field with a button. Ctrl or Command with Enter sends too. */
export function Composer({ label, button, onSend }: ComposerProps) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const { idOf, forget } = useDraftId()
  const left = charactersMax - countCharacters(text.trim())
  const isReady = text.trim() !== '' && left >= 0 && !isSending
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (!isReady) return
    setSending(true)
    const draft = text.trim()
    try {
      await onSend(draft, idOf(draft))
      forget()
      setText('')
    } catch (error) {
      reportProblem(error)
    }
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
