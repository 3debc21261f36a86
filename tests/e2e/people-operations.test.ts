import * as operations from '@feedline/client'
import { print } from 'graphql'
import { expect, test } from 'vitest'
import { viewerNodeId } from '../../src/graphql/node-id.ts'
import { useOperations } from '../support/executed-operations.ts'
import { signByHmac } from '../support/key-server.ts'
import { subjectOf } from '../support/services.ts'
import { now } from '../support/sign-in.ts'
import { filesByTest, readOperations } from '../support/written-operations.ts'

const secret = 's'.repeat(32)
const { app, ask, open, follow, publish, executed } = useOperations({ AUTH_JWT_SECRET: secret })

test('an account is created, read, updated and deleted by its owner', async () => {
  const [opened] = await open('owner')
  expect(opened?.createUser.user).toMatchObject({
    handle: 'owner',
    name: 'owner by name',
    bio: 'I am owner',
    avatarUrl: 'https://pictures.example/owner',
    bannerUrl: null,
    followerCount: 0,
    followingCount: 0,
    postCount: 0,
    viewerFollows: false,
    followsViewer: false,
    viewerGroups: [],
  })
  const input = { name: 'Owner', bio: null, clientMutationId: 'renamed' }
  const { updateUser } = await ask('owner', operations.UpdateUserDocument, { input })
  expect(updateUser.clientMutationId).toBe('renamed')
  expect(updateUser.user).toEqual({ ...opened?.createUser.user, name: 'Owner', bio: null })

  const { viewer } = await ask('owner', operations.ViewerDocument)
  const id = viewerNodeId(subjectOf('owner'))
  expect(viewer).toEqual({ id, handle: 'owner', user: updateUser.user })
  const profile = { handle: 'owner' }
  const { user } = await ask(undefined, operations.ProfileDocument, profile)
  expect(user).toEqual(updateUser.user)
  const posts = await ask(undefined, operations.UserPostsDocument, profile)
  expect(posts.user?.posts.edges).toEqual([])

  const { isHandleAvailable } = await ask('owner', operations.IsHandleAvailableDocument, profile)
  expect(isHandleAvailable).toBe(true)
  const others = await ask(undefined, operations.IsHandleAvailableDocument, profile)
  expect(others.isHandleAvailable).toBe(false)

  const { deleteUser } = await ask('owner', operations.DeleteUserDocument, { input: {} })
  expect(deleteUser).toEqual({ clientMutationId: null, changed: true, handle: 'owner' })
  expect((await ask(undefined, operations.ProfileDocument, profile)).user).toBeNull()
  expect(await ask('owner', operations.ViewerDocument)).toEqual({
    viewer: { id, handle: null, user: null },
  })
})

test('a server creates accounts, and a viewer follows several users', async () => {
  const token = signByHmac('HS256', secret, { sub: 'bot', scope: 'act-for', exp: now() + 60 })
  const users = ['first', 'second'].map((subject) => ({ subject, name: `The ${subject}` }))
  const { data } = await app.send({
    query: print(operations.CreateUsersDocument),
    variables: { input: { users, clientMutationId: 'both' } },
    headers: { authorization: `Bearer ${token}` },
  })
  executed.add('CreateUsers')
  expect(data.createUsers).toMatchObject({
    clientMutationId: 'both',
    results: users.map(({ subject, name }) => ({
      ...{ subject, created: true, error: null, user: { handle: subject, name } },
    })),
  })
  const { followUsers } = await ask('first', operations.FollowUsersDocument, {
    input: { users: [{ handle: 'second' }, { handle: 'third-of-two' }] },
  })
  expect(followUsers).toMatchObject({
    results: [
      { changed: true, error: null, user: { handle: 'second', viewerFollows: true } },
      { changed: false, error: { code: 'NOT_FOUND', argument: null }, user: null },
    ],
    viewer: { user: { followingCount: 1 } },
  })
})

test('an anonymous request has no viewer', async () => {
  expect(await ask(undefined, operations.ViewerDocument)).toEqual({ viewer: null })
})

test('a group has members, a timeline and a name', async () => {
  await open('keeper', 'friend', 'colleague')
  await follow('keeper', 'friend')
  await follow('keeper', 'colleague')
  const input = { user: { handle: 'friend' }, groups: ['close', 'art'] }
  const { setFollowGroups } = await ask('keeper', operations.SetFollowGroupsDocument, { input })
  expect(setFollowGroups.groups).toEqual(['art', 'close'])
  expect(setFollowGroups.user?.viewerGroups).toEqual(['art', 'close'])

  const of = { handle: 'keeper', group: 'close' }
  const { user } = await ask('keeper', operations.FollowingDocument, of)
  expect(user?.following.edges.map(({ node }) => node?.handle)).toEqual(['friend'])
  const all = await ask('keeper', operations.FollowingDocument, { handle: 'keeper' })
  expect(all.user?.following.edges.map(({ node }) => node?.handle)).toEqual(['colleague', 'friend'])

  await publish('colleague', 'at work')
  const post = await publish('friend', 'at home')
  const { timeline } = await ask('keeper', operations.GroupTimelineDocument, { group: 'close' })
  expect(timeline.edges.map(({ node }) => node?.id)).toEqual([post.id])
  const { viewer } = await ask('keeper', operations.ViewerGroupsDocument, { first: 100 })
  expect(viewer?.groups.edges.map(({ node }) => node?.name)).toEqual(['art', 'close'])
})

test('a follow and an unfollow show in the lists of both users', async () => {
  await open('fan', 'star')
  const { followUser } = await follow('fan', 'star')
  expect(followUser.changed).toBe(true)
  expect(followUser.user).toMatchObject({ viewerFollows: true, followerCount: 1 })
  expect((await follow('fan', 'star')).followUser.changed).toBe(false)

  const { user } = await ask('star', operations.FollowersDocument, { handle: 'star' })
  expect(user?.followers.edges).toMatchObject([
    { source: 'FEEDLINE', node: { handle: 'fan', viewerFollows: false, followingCount: 1 } },
  ])
  expect(Date.parse(user?.followers.edges[0]?.followedAt ?? '')).toBeLessThanOrEqual(Date.now())
  const seen = await ask('star', operations.ProfileDocument, { handle: 'fan' })
  expect(seen.user?.followsViewer).toBe(true)

  const input = { user: { handle: 'star' } }
  const { unfollowUser } = await ask('fan', operations.UnfollowUserDocument, { input })
  expect(unfollowUser.changed).toBe(true)
  expect(unfollowUser.user).toMatchObject({ viewerFollows: false, followerCount: 0 })
  const after = await ask('star', operations.FollowersDocument, { handle: 'star' })
  expect(after.user?.followers.edges).toEqual([])
})

test('users in common are in the mutuals of a profile and count for a suggestion', async () => {
  await open('common-reader', 'common-writer', 'common-editor', 'common-printer')
  await follow('common-reader', 'common-writer')
  await follow('common-reader', 'common-editor')
  await follow('common-editor', 'common-writer')
  await follow('common-editor', 'common-printer')
  const { user } = await ask('common-reader', operations.MutualsDocument, {
    handle: 'common-editor',
  })
  expect(user?.mutuals).toMatchObject({
    totalCount: 1,
    edges: [{ node: { handle: 'common-writer' } }],
  })
  const { viewer } = await ask('common-reader', operations.ViewerSuggestionsDocument, { first: 20 })
  expect(viewer?.suggestions.edges).toMatchObject([
    { commonCount: 1, node: { handle: 'common-printer', viewerFollows: false } },
  ])
})

test('mutes and blocks are in the viewer’s lists until they are removed', async () => {
  await open('judge', 'noisy', 'rude')
  const noisy = { input: { user: { handle: 'noisy' } } }
  const rude = { input: { user: { handle: 'rude' } } }
  await follow('judge', 'rude')
  const { muteUser } = await ask('judge', operations.MuteUserDocument, noisy)
  expect(muteUser).toMatchObject({ changed: true, user: { viewerHasMuted: true } })
  const { blockUser } = await ask('judge', operations.BlockUserDocument, rude)
  expect(blockUser).toMatchObject({
    changed: true,
    user: { viewerHasBlocked: true, viewerFollows: false, followerCount: null },
  })
  const lists = async (handle: string) => {
    const mutes = (await ask(handle, operations.ViewerMutesDocument, { first: 100 })).viewer?.mutes
      .edges
    const blocks = (await ask(handle, operations.ViewerBlocksDocument, { first: 100 })).viewer
      ?.blocks.edges
    return [mutes, blocks].map((edges) => edges?.map(({ node }) => node?.handle))
  }
  expect(await lists('judge')).toEqual([['noisy'], ['rude']])
  expect(await lists('rude')).toEqual([[], []])

  const { unmuteUser } = await ask('judge', operations.UnmuteUserDocument, noisy)
  expect(unmuteUser).toMatchObject({ changed: true, user: { viewerHasMuted: false } })
  const { unblockUser } = await ask('judge', operations.UnblockUserDocument, rude)
  const user = { viewerHasBlocked: false, followerCount: 0 }
  expect(unblockUser).toMatchObject({ changed: true, user })
  expect(await lists('judge')).toEqual([[], []])
})

test('a server outside production has no rate limit', async () => {
  expect(await ask(undefined, operations.RateLimitDocument)).toEqual({ rateLimit: null })
})

test('this file executes every operation of its files in schema/operations', async () => {
  const names = (await readOperations(filesByTest['people-operations'])).map(
    ({ name }) => name?.value,
  )
  expect(names.length).toBeGreaterThan(8)
  expect(names.filter((name) => !executed.has(name ?? ''))).toEqual([])
})
