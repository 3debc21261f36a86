import { type ReactNode, useRef } from 'react'
import { arrive, Link } from './address'
import { FailedAction, Offline } from './problems'
import { signOut, useHandle } from './session'

/** The frame of each page. */
export function Shell({ groups, children }: { groups: readonly string[]; children: ReactNode }) {
  const handle = useHandle()
  const main = useRef<HTMLElement>(null)
  const leave = () => {
    arrive()
    signOut()
  }
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className="bar">
        <p className="brand">Feedline</p>
        {handle ? (
          <>
            <nav aria-label="Main">
              <Link href="/">Home</Link>
              <Link href={`/users/${handle}`}>Profile</Link>
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
