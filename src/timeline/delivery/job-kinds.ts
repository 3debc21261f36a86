/** The kinds of jobs with which timelines react to events. Kinds are persisted. */
export const timelineReactions = {
  'follow.created': 'follow.created',
  'follow.ended': 'follow.ended',
  'post.created': 'post.created',
  'post.deleted': 'post.deleted',
} as const
