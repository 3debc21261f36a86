import type { ReactNode } from 'react'
import { Link } from './address'
import { FailedAction, Offline } from './problems'
import { signOut, useHandle } from './session'

/** The frame of each page. */
export function Shell({ groups, children }: { groups: readonly string[]; children: ReactNode }) {
  const handle = useHandle()
  return (
    <div className="shell">
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
            <button type="button" className="plain" onClick={signOut}>
              Sign out
            </button>
          </>
        ) : null}
      </header>
      <main>
        <Offline />
        {children}
      </main>
      <FailedAction />
    </div>
  )
}
