const wordsOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Names of the column of who follows, in small letters without accents. */
const followerWords = wordsOf(`
  follower followers who from source src start tail origin sender subscriber subscribers fan ego actor
  initiator suiveur suiveurs abonne abonnes origine depuis folger folgender von quelle
  seguidor seguidores origen desde origem seguace seguaci da volger volgers van bron foljare
  fran kalla fra kilde obserwujacy zrodlo od seuraaja seuraajat lahde takipci kaynak sledujici zdroj
  pengikut dari koveto wer
`)

/** Names of the column of who is followed. */
const followeeWords = wordsOf(`
  followee followees followed follows whom to target tgt dst dest destination end head receiver recipient
  friend friends alter object other subscribee leader idol suivi suivis abonnement abonnements vers
  cible gefolgter gefolgt folgt nach ziel seguido seguidos destino hasta para siguiendo seguindo seguito seguiti
  destinazione gevolgde gevolgd naar doel foljd till mal til obserwowany cel do seurattu kohde takip hedef
  sledovany cil diikuti ke kovetett wem wen
`)

/** Names that say nothing of who follows. */
const nouns = wordsOf(`
  email mail address uuid subject sub user users node nodes vertex account accounts person people member profile id ids uid pid name names
  username usernames handle handles screen screenname login nick nickname nr no num number numeric
  var label display full key nodeid userid index idx col column field numericid utilisateur compte nom benutzer
  nutzer konto person usuario cuenta nombre conta nome utente gebruiker naam bruker kullanici
`)

/** Names of columns that hold no users, such as `Followers Count` and `Followed since`. */
const valueWords = wordsOf('count counts total since at on date time when')

/**
 * What the name of a column says: who follows, who is followed, either (`following`), or a user of
 * some kind.
 */
type ColumnRole = 'FOLLOWER' | 'FOLLOWEE' | 'FOLLOWING' | 'USER'

/** The name of a column. */
export interface ColumnName {
  readonly role: ColumnRole
  /** What tells two columns of one kind apart: `1` of `user1`, `b` of `node_b`. */
  readonly ordinal: string | undefined
  /** The name without the ordinal. */
  readonly stem: string
  /** The words that are not known. */
  readonly rest: string
  /**
   * Whether it may be of numbers of users, such as `followers`, `following` and `Anzahl Follower`.
   */
  readonly isCount: boolean
}

/** Small words: `FromNodeId` is from, node, id; `a.name` is a, name; `user1` is user, 1. */
const tokensOf = (field: string): readonly string[] =>
  field
    .replace(/\(.*\)$/, '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[a-z]+|\d+/g) ?? []

/** Compounds, in which no capital or sign parts the words. */
const compound =
  /^(from|to|source|target|src|dst|start|end|follower|followee|followed|following|friend|user|node|person)(user|node|vertex|account|person)?(id|ids|name)?$/

/** Reads the name of a column. @returns undefined if it says nothing that is known. */
export function columnName(field: string): ColumnName | undefined {
  const words = tokensOf(field).flatMap(
    (token) => compound.exec(token)?.slice(1).filter(Boolean) ?? [token],
  )
  const signs = words.filter((word) => /^(\d+|[a-z])$/.test(word))
  const others = words.filter((word) => !signs.includes(word))
  const isKnown = (word: string) => isRole(word) || nouns.has(word)
  if (!words.some((word) => /[a-z]/.test(word)) || signs.length > 2) return undefined
  if (words.some((word) => valueWords.has(word))) return undefined
  const rest = others.filter((word) => !isKnown(word)).join(' ')
  if (rest !== '' && !others.some(isRole)) return undefined
  const ordinal = signs.pop()
  const [only = '', ...further] = others
  const isCount =
    rest !== '' || (further.length === 0 && isRole(only) && /s$|^following$/.test(only))
  return { role: roleOf(others), ordinal, stem: [...others, ...signs].join(' '), rest, isCount }
}

const isRole = (word: string) =>
  word === 'following' || followerWords.has(word) || followeeWords.has(word)

function roleOf(words: readonly string[]): ColumnRole {
  if (words.includes('following')) return 'FOLLOWING'
  if (words.some((word) => followerWords.has(word))) return 'FOLLOWER'
  return words.some((word) => followeeWords.has(word)) ? 'FOLLOWEE' : 'USER'
}
