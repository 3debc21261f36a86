import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isRequiredInputField,
} from 'graphql'
import { encodeOpaque } from '../../../src/lib/opaque.ts'
import { pageSizeMax } from '../../../src/lib/page.ts'
import {
  type Attack,
  base64,
  documentAttack,
  existing,
  existingPost,
  serversToken,
} from '../attack.ts'
import { pollEnds, wrongPollCursors } from './poll-cursors.ts'
import { allArguments } from './values.ts'

/** Of the right type, and still wrong: the field is null, and the request is answered. */
const refused = { answer: '200 BAD_USER_INPUT', commandsMax: 0 }
/** The commands that may come first: the objects around the argument. */
const nested = { answer: '200 BAD_USER_INPUT', commandsMax: 4 }

const handles = [
  ...['', ' ', 'a b', 'ann\n', '\u0000', 'ann\u0000', 'é', '😀', '\ud800', 'аnn', '../ann'],
  ...[
    '$ne',
    '$where',
    '{"$ne":1}',
    '__proto__',
    '.ann',
    'ann.',
    '-',
    'a'.repeat(65),
    'a'.repeat(50_000),
  ],
]

const { author, id } = existing
const forgedIds: readonly string[] = [
  ...[
    '',
    ' ',
    'x',
    '1',
    '=',
    '😀',
    '\u0000',
    '\ud800',
    '$ne',
    '{"$ne":1}',
    '__proto__',
    id,
    author,
  ],
  ...[
    `${existingPost}=`,
    ` ${existingPost}`,
    `${existingPost}\n`,
    `${existingPost}${existingPost}`,
  ],
  ...[
    [],
    [1],
    ['Post'],
    ['Post', author],
    ['Post', id, author],
    ['post', author, id],
    {},
    null,
    5,
    'Post',
  ].map(base64),
  ...[
    ['Post', author, id, ''],
    ['Post', author, { $ne: 1 }],
    ['Post', [author], id],
    ['Post', '$ne', id],
  ].map(base64),
  ...[
    ['Post', author, id.toUpperCase()],
    ['Post', author, id.slice(1)],
    ['Post', author, `${id}0`],
  ].map(base64),
  ...[
    ['Cursor', id],
    ['__proto__', author, id],
    ['constructor', author, id],
  ].map(base64),
  base64(`[ "Post", "${author}", "${id}" ]`),
  base64(`["Post","${author}","${id}"]\n`),
  base64(`["\\u0050ost","${author}","${id}"]`),
  base64('['.repeat(300)),
  'a'.repeat(513),
  'a'.repeat(60_000),
]

/** Global ids of other types than that of the argument. */
const otherIds = {
  user: encodeOpaque('User', author),
  post: existingPost,
  comment: encodeOpaque('Comment', author, id, id),
  like: encodeOpaque('Like', author, id, author),
}

const cursors: readonly string[] = [
  ...[' ', 'x', '0', 'null', '😀', '\u0000', id, existingPost, '{"$gt":""}', 'Y3Vyc29y'],
  ...[
    ['Cursor'],
    ['Cursor', ''],
    ['Cursor', id, id],
    ['Cursor', { $gt: '' }],
    ['Cursor', id.toUpperCase()],
  ].map(base64),
  `${encodeOpaque('Cursor', id)}=`,
  'a'.repeat(60_000),
]

/** Cursors that this server could have sent, at the ends of all ids. */
const extremeCursors = [
  '0'.repeat(24),
  `${'0'.repeat(23)}1`,
  `${'f'.repeat(23)}e`,
  'f'.repeat(24),
  `ffffffffffff${'0'.repeat(12)}`,
]

const texts = [
  '\ud800',
  '\u0000',
  'a\u0007',
  'x'.repeat(301),
  '👩‍👩‍👧‍👦'.repeat(200),
  'e\u0301'.repeat(1_000),
  `a${'\u0301'.repeat(40_000)}`,
]
const names = ['', ' ', '\u200b', 'a\nb', '\u202eann', 'x'.repeat(65), ...texts]
const keys = ['\ud800', 'k'.repeat(129), 'k'.repeat(80_000)]
const urls = [
  'x',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '//a.example',
  `https://a.example/${'x'.repeat(2_048)}`,
]

/** Wrong contents of the fields of inputs, by name. */
const contents: Readonly<Record<string, readonly unknown[]>> = {
  user: [
    ...handles.map((handle) => ({ handle })),
    ...[...forgedIds, otherIds.post, otherIds.comment, encodeOpaque('Viewer', author)].map(
      (one) => ({ id: one }),
    ),
  ],
  'FollowUsersInput.users': [Array(101).fill({ handle: 'ben' })],
  'CreateUsersInput.users': [Array(101).fill({ subject: 'x', name: 'x' })],
  postId: [...forgedIds, otherIds.user, otherIds.comment, otherIds.like],
  commentId: [...forgedIds, otherIds.user, otherIds.post, otherIds.like],
  text: texts,
  name: names,
  // An empty one is absent.
  handle: handles.filter((one) => one !== ''),
  bio: texts,
  avatarUrl: urls,
  bannerUrl: urls,
  clientMutationId: keys,
  groups: [
    Array(11).fill('g'),
    ...['', ' ', '\ud800', '\u0000', 'g'.repeat(65)].map((name) => [name]),
  ],
  attachments: [
    ...['', ...urls].map((url) => [{ url, kind: 'IMAGE' }]),
    Array(5).fill({ url: 'https://a.example', kind: 'IMAGE' }),
    ...[
      { alt: 'x'.repeat(2_001) },
      { alt: '\u0301'.repeat(6_001) },
      ...[-1, 65_536, 2_147_483_647].flatMap((pixels) => [{ width: pixels }, { height: pixels }]),
      ...[' ', '\ud800', '\u0000', 'LEHV6n', 'é'.repeat(6), '~'.repeat(80_000)].map((blurhash) => ({
        blurhash,
      })),
    ].map((fields) => [{ url: 'https://a.example', kind: 'IMAGE', ...fields }]),
  ],
}

const valid: Readonly<Record<string, unknown>> = {
  user: { handle: 'ben' },
  users: [],
  postId: existingPost,
  commentId: otherIds.comment,
  text: 'x',
  name: 'x',
  groups: [],
}

const short = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}… of ${text.length}` : text
}

const createUsers = 'Mutation.createUsers(input)'

/** Wrong users of a server, each of which is refused alone. */
const wrongUsers: readonly Attack[] = Object.entries({
  subject: ['', '\u0000', '\ud800', 'a\n', 'x'.repeat(256), 'é'.repeat(128), 'x'.repeat(50_000)],
  ...{ handle: handles, name: names, bio: texts, avatarUrl: urls, bannerUrl: urls },
}).flatMap(([field, wrong]) =>
  wrong.map((value) => {
    const right = {
      subject: 'No Handle',
      name: 'x',
      ...(field !== 'handle' && { handle: 'right' }),
    }
    const query =
      'mutation ($v: CreateUsersInput!) { createUsers(input: $v) { results { created error { message } } } }'
    const expected = { answer: '200 OK', commandsMax: 0, token: serversToken }
    const v = { users: [{ ...right, [field]: value }] }
    return documentAttack(`${createUsers}, a user, ${field}: ${short(value)}`, query, expected, {
      v,
    })
  }),
)

const inputs: readonly Attack[] = allArguments.flatMap(({ name, query, type }) => {
  const input = getNullableType(type)
  if (!isInputObjectType(input)) return []
  const expected = name === createUsers ? { ...refused, token: serversToken } : refused
  const fields = Object.values(input.getFields())
  const others = Object.fromEntries(
    fields.filter(isRequiredInputField).map((one) => [one.name, valid[one.name]]),
  )
  return fields.flatMap((field) => {
    const wrong = contents[field.name] ?? contents[`${input.name}.${field.name}`]
    if (!wrong) throw new Error(`no wrong contents of ${input.name}.${field.name}`)
    return wrong.map((value) =>
      documentAttack(`${name}, ${field.name}: ${short(value)}`, query, expected, {
        v: { ...others, [field.name]: value },
      }),
    )
  })
})

const isList = (name: string) => /^(User|Post|Viewer)\./.test(name)

/** A list of another user has no groups for the viewer, whatever their names. */
const answersOf = (name: string) => {
  if (name === 'User.following(group)') return { answer: '200 FORBIDDEN', commandsMax: 4 }
  return isList(name) ? nested : refused
}

/** Wrong contents of arguments, by name. */
const argumentContents: Readonly<Record<string, readonly unknown[]>> = {
  first: [-1, pageSizeMax + 1, 2_147_483_647, -2_147_483_648],
  last: [-1, pageSizeMax + 1, 2_147_483_647, -2_147_483_648],
  after: cursors,
  before: cursors,
  since: ['', ...cursors, encodeOpaque('Cursor', id), ...wrongPollCursors],
  'Query.post(id)': [...forgedIds, 1e308],
  'Query.node(id)': [],
  ids: [Array(pageSizeMax + 1).fill(existingPost)],
  post: [...forgedIds, otherIds.user, otherIds.comment, otherIds.like],
  handle: handles,
  group: [' ', '\ud800', '\u0000', 'g'.repeat(65), 'g'.repeat(80_000)],
}

const leaves: readonly Attack[] = allArguments.flatMap(({ name, argument, query, type }) => {
  const inner = getNamedType(type)
  if (!isLeafType(inner) || !['Int', 'String', 'ID'].includes(inner.name)) return []
  const wrong = argumentContents[argument] ?? argumentContents[name]
  if (!wrong) throw new Error(`no wrong contents of ${name}`)
  return wrong.map((value) =>
    documentAttack(`${name}: ${short(value)}`, query, answersOf(name), {
      v: value,
    }),
  )
})

/** Pages beyond the ends of every list are empty or whole, and never an error. */
const ends: readonly Attack[] = allArguments
  .filter(
    ({ name, argument }) =>
      /^(after|before)$/.test(argument) && !/^Viewer\.(groups|suggestions)/.test(name),
  )
  .flatMap(({ name, query }) =>
    extremeCursors.map((cursor) =>
      documentAttack(
        `${name}: the cursor ${cursor}`,
        query.replace(
          '{ __typename }',
          '{ pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }',
        ),
        { answer: '200 OK', commandsMax: 12 },
        { v: encodeOpaque('Cursor', cursor) },
      ),
    ),
  )

/** Texts that are no ids are null in their place. */
const forged: readonly Attack[] = forgedIds.map((text) =>
  documentAttack(
    `no id: ${short(text)}`,
    'query ($v: ID!) { node(id: $v) { id } nodes(ids: [$v, $v]) { id } }',
    { answer: '200 OK', commandsMax: 0 },
    { v: text },
  ),
)

/** Ids of objects that do not exist, whose parts are right. */
const absent: readonly Attack[] = [
  ['User', 'nobody'],
  ['Post', 'nobody', id],
  ['Post', author, '0'.repeat(24)],
  ['Post', author, 'f'.repeat(24)],
  ['Like', author, id, 'nobody'],
  ['Share', author, 'f'.repeat(24), author],
  ['Comment', author, id, 'f'.repeat(24)],
  ['Comment', author, '0'.repeat(24), '0'.repeat(24)],
].map(([tag = '', ...parts]) =>
  documentAttack(
    `the id of no object: ${tag} ${parts}`,
    'query ($v: ID!) { node(id: $v) { __typename id } nodes(ids: [$v, $v]) { id ... on Post { createdAt } } }',
    { answer: '200 OK', commandsMax: 20 },
    { v: encodeOpaque(tag, ...parts) },
  ),
)

export const contentAttacks: readonly Attack[] = [
  ...inputs,
  ...wrongUsers,
  ...leaves,
  ...ends,
  ...pollEnds(extremeCursors),
  ...forged,
  ...absent,
]
