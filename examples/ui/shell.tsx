import { type ReactNode, useRef } from 'react'
import { arrive, Link } from './address'
import { FailedAction, Offline, reportProblem } from './problems'
import { signOut, useViewer } from './session'

export interface ShellProps {
  /** Of the viewer. Nothing before the server has said it, and without an account. */
  readonly handle?: string | undefined
  readonly groups?: readonly string[]
  readonly children: ReactNode
}

/** The frame of each page. */
export function Shell({ handle, groups = [], children }: ShellProps) {
  const isSignedIn = useViewer() !== ''
  const main = useRef<HTMLElement>(null)
  const leave = () => {
    arrive()
    signOut().catch(reportProblem)
  }
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="bar">
        <p className="brand">Feedline</p>
        {isSignedIn ? (
          <>
            <nav aria-label="Main">
              <Link href="/">Home</Link>
              {handle ? <Link href={`/users/${handle}`}>Profile</Link> : null}
            </nav>
            {groups.length > 0 ? (
              <nav aria-label="Groups">
                {groups.map((name) => (
                  <Link key={name} href={`/groups/${encodeURIComponent(name)}`}>
                    {name}
                  </Link>
                ))}
              </nav>
            ) : null}
            <button type="button" className="plain" onClick={leave}>
              Sign out
            </button>
          </>
        ) : null}
      </header>
      <main ref={main} tabIndex={-1}>
        <Offline />
        {children}
      </main>
      <FailedAction />
    </div>
  )
}
