import { useState } from 'react'
import { Link, navigate } from './address'
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
import { isHandle } from './session'

const labels = {
  handle: 'Handle',
  name: 'Name',
  bio: 'Bio',
  avatarUrl: 'Address of your picture',
  bannerUrl: 'Address of your banner',
} as const
type FieldName = keyof typeof labels
const fieldNames = Object.keys(labels) as FieldName[]

/** The changed fields. An empty text removes a field. */
export type ProfileChanges = Partial<Record<FieldName, string>>

export interface EditProfileProps {
  readonly user: { readonly [Name in FieldName]?: string | null | undefined } & {
    readonly handle: string
  }
  /** Saves the changes. Throws why the server refuses them, with its `extensions` as the `cause`. */
  readonly onSave: (changes: ProfileChanges, clientMutationId: string) => Promise<unknown>
  readonly isHandleAvailable: HandleCheck
}

/** The form of the viewer's profile. It sends what was changed alone, and then leads to the profile. */
export function EditProfile({ user, onSave, isHandleAvailable }: EditProfileProps) {
  const { ref, mistakes, problem, refuse, refuseBy, note } = useRefusal(labels)
  const [isSending, setSending] = useState(false)
  const { idOf } = useDraftId()
  const save = async (form: FormData) => {
    const changes = changesOf(user, form)
    const { handle = user.handle } = changes
    if (!isHandle(handle)) return refuse({ handle: handleRule })
    setSending(true)
    try {
      if (Object.keys(changes).length > 0) await onSave(changes, idOf(JSON.stringify(changes)))
      navigate(`/users/${handle}`)
    } catch (error) {
      setSending(false)
      refuseBy(error)
    }
  }
  const check = async (handle: string, isStill: () => boolean) => {
    const mistake = handle === user.handle ? '' : await checkHandle(isHandleAvailable, handle)
    if (isStill()) note('handle', mistake)
  }
  const field = (name: FieldName) => ({
    name,
    label: labels[name],
    defaultValue: user[name] ?? '',
    mistake: mistakes[name],
  })
  return (
    <Form
      title="Edit profile"
      heading="Edit profile"
      hint="Your former handle stays yours for some time, and links with it lead to you."
      button="Save"
      problem={problem}
      isSending={isSending}
      onSend={save}
      action={
        <Link href={`/users/${user.handle}`} className="button">
          Cancel
        </Link>
      }
    >
      <div ref={ref} className="fields">
        <Field {...field('name')} required autoComplete="name" />
        <HandleField suggested={user.handle} mistake={mistakes.handle} onLeave={check} />
        <Field {...field('bio')} lines={4} />
        <Field {...field('avatarUrl')} type="url" placeholder="https://" />
        <Field {...field('bannerUrl')} type="url" placeholder="https://" />
      </div>
    </Form>
  )
}

function changesOf(user: EditProfileProps['user'], form: FormData): ProfileChanges {
  const changed = fieldNames.flatMap((name) => {
    const written = String(form.get(name) ?? '').trim()
    const value = name === 'handle' ? toHandle(written) : written
    return value === (user[name] ?? '') ? [] : [[name, value] as const]
  })
  return Object.fromEntries(changed)
}
