import { useRef } from 'react'

/**
 * The `clientMutationId` of what a form sends. A second attempt with the same contents has the same one, because the first
 * may have taken effect without an answer.
 */
export function useDraftId() {
  const draft = useRef({ contents: '', id: '' })
  return {
    idOf: (contents: string): string => {
      if (draft.current.contents !== contents) {
        draft.current = { contents, id: crypto.randomUUID() }
      }
      return draft.current.id
    },
    /** After success: the same contents are then another draft. */
    forget: () => {
      draft.current = { contents: '', id: '' }
    },
  }
}
