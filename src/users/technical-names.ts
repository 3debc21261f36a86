/** Pages and files of sites, which show a user at "/handle". */
const ofSites = `
  about account accounts activity api app apps assets auth blog bookmarks callback cdn compose
  contact cookies dashboard developers docs download edit error explore faq favicon.ico feed
  followers following graphql groups hashtag hashtags health healthz help home inbox index
  index.html invite jobs legal likes lists livez log-in log-out manifest.json media mentions
  messages metrics new notifications oauth post posts privacy profile profiles readyz register
  replies report robots.txt rss search session settings share shares sign-in sign-out sign-up
  sitemap.xml static status suggestions tag tags terms timeline token tos trending upload
  uploads user users verify webhooks well-known www
`

/** The viewer, all users, and none of them. */
const ofPeople = `
  all anonymous anyone blocked channel deleted everybody everyone guest here me myself nobody
  noone removed self suspended unknown viewer you yourself
`

/** Values of programs. */
const ofPrograms = `
  false infinity nan nil none null prototype true undefined void
`

/** Addresses of mail servers. */
const ofMail = `
  abuse hostmaster localhost mailer-daemon no-reply postmaster webmaster
`

/** Words that mean something else than a person, and what each object of JavaScript has. */
const words: ReadonlySet<string> = new Set(
  [
    ...[ofSites, ofPeople, ofPrograms, ofMail].flatMap((texts) => texts.trim().split(/\s+/)),
    ...Object.getOwnPropertyNames(Object.prototype),
  ].map(withoutSeparators),
)

function withoutSeparators(text: string): string {
  return text.toLowerCase().replace(/[._-]/g, '')
}

/**
 * Whether a handle is a word that means something else than a person in the addresses of a site, or
 * in programs, with or without ".", "_" and "-". What looks like such a word is a name: "all" looks
 * like "ali".
 */
export const isTechnicalName = (handle: string): boolean => words.has(withoutSeparators(handle))
