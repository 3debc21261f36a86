import { describe, expect, test } from 'vitest'
import { readClaims } from '../../src/graphql/claims.ts'

const main = { issuer: '', isMain: true }

/** What the claims say beside the subject. */
function says(claims: object, rolesClaim: string | undefined = 'roles') {
  const rule = { subjectClaim: 'sub', rolesClaim, issuer: main }
  const { roles, scopes } = readClaims({ sub: 'ann', ...claims }, rule)
  return { roles: [...roles], scopes: [...scopes] }
}

describe('roles', () => {
  test.each<readonly [roles: unknown, expected: readonly string[]]>([
    [
      ['moderator', 'ADMIN'],
      ['MODERATOR', 'ADMIN'],
    ],
    ['Admin', ['ADMIN']],
    ['reader,moderator  admin', ['MODERATOR', 'ADMIN']],
    [['admin', 'admin', 7, null, ['moderator'], {}], ['ADMIN']],
    [['admin moderator'], []],
    [['administrator', 'ADMIN ', 'admın', 'ADMİN', 'аdmin', ''], []],
    [{ admin: true, 0: 'admin', length: 1 }, []],
    [true, []],
    [null, []],
    [undefined, []],
  ])('of the roles %j, the known ones count: %j', (roles, expected) => {
    expect(says({ roles }).roles).toEqual(expected)
  })

  test('a claim of the exact name counts before a path of names', () => {
    const nested = { 'a.b': ['admin'], a: { b: ['moderator'] } }
    expect(says(nested, 'a.b').roles).toEqual(['ADMIN'])
    expect(says({ a: nested.a }, 'a.b').roles).toEqual(['MODERATOR'])
    const url = 'https://feed.example/roles'
    expect(says({ [url]: ['moderator'] }, url).roles).toEqual(['MODERATOR'])
  })

  test('a path reads own members of objects only', () => {
    expect(says({ a: [['admin']] }, 'a.0').roles).toEqual([])
    expect(says({ a: 'admin' }, 'a.0').roles).toEqual([])
    expect(says({ a: { b: 'admin' } }, 'a').roles).toEqual([])
    const names = ['constructor.name', '__proto__', 'toString', '__proto__.roles', 'a.', '.']
    for (const name of names) expect(says({ roles: 'admin', a: {} }, name).roles).toEqual([])
  })

  test('without AUTH_ROLES_CLAIM there is no role', () => {
    const rule = { subjectClaim: 'sub', rolesClaim: undefined, issuer: main }
    const claims = { sub: 'ann', roles: ['admin'], role: 'admin', undefined: 'admin' }
    expect(readClaims(claims, rule).roles).toEqual(new Set())
  })
})

test.each<readonly [claims: object, expected: readonly string[]]>([
  [{ scope: 'openid act-for' }, ['act-for']],
  [{ scope: ['act-for'] }, ['act-for']],
  [{ scp: ['openid', 'act-for'] }, ['act-for']],
  [{ scp: 'act-for' }, ['act-for']],
  [{ scope: 'openid', scp: 'act-for' }, ['act-for']],
  [{ scope: 'act-for:x ACT-FOR,act-for' }, []],
  [{ scope: ['openid act-for'] }, []],
  [{ scope: { 'act-for': true } }, []],
  [{ scopes: 'act-for', permissions: ['act-for'], roles: 'act-for' }, []],
])('of the claims %j, the scopes are %j', (claims, expected) => {
  expect(says(claims).scopes).toEqual(expected)
})

test('a claim named __proto__ is a claim like others, and stands for no other', () => {
  const json = '{"sub":"ann","__proto__":{"roles":"admin","iss":"x","scope":"act-for"}}'
  const rule = { subjectClaim: 'sub', rolesClaim: 'roles', issuer: main }
  expect(readClaims(JSON.parse(json), rule)).toEqual({
    subject: { issuer: '', sub: 'ann', isMain: true },
    ...{ roles: new Set(), scopes: new Set() },
  })
  const inProto = { ...rule, subjectClaim: '__proto__.iss', rolesClaim: '__proto__.roles' }
  expect(readClaims(JSON.parse(json), inProto).subject.sub).toBe('x')
  expect(() => readClaims({}, { ...rule, subjectClaim: 'constructor.name' })).toThrow(
    '"constructor.name" must be a text of 1 to 255 bytes',
  )
})

test('the claim of the subject may be a path, and sub does not replace it', () => {
  const issuer = { issuer: 'https://a.example', isMain: false }
  const rule = { subjectClaim: 'ext.uid', rolesClaim: undefined, issuer }
  const claims = { iss: 'https://a.example', sub: 'ann', ext: { uid: 'U-1' } }
  expect(readClaims(claims, rule).subject).toEqual({
    ...{ issuer: 'https://a.example', sub: 'U-1', isMain: false },
  })
  expect(() => readClaims({ sub: 'ann' }, rule)).toThrow('Authorization: "ext.uid" must be')
})
