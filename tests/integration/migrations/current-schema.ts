import type { RecordedAnswer, RecordedDatabase } from './release-fixture.ts'

/** Words the recorded operations and answers as the current schema does. Their meaning stays the same. */
export function inCurrentSchema(recorded: RecordedDatabase): RecordedDatabase {
  const queries = Object.entries(recorded.queries).map(([name, text]) => [
    name,
    text.replace('stats { followers following posts }', 'followerCount followingCount postCount'),
  ])
  return {
    ...recorded,
    queries: Object.fromEntries(queries),
    answers: recorded.answers.map(answerInCurrentSchema),
    repeats: recorded.repeats.map(answerInCurrentSchema),
  }
}

const answerInCurrentSchema = (answer: RecordedAnswer): RecordedAnswer => ({
  ...answer,
  data: JSON.parse(
    JSON.stringify(answer.data)
      .replaceAll(
        /"stats":\{"followers":(\d+),"following":(\d+),"posts":(\d+)\}/g,
        '"followerCount":$1,"followingCount":$2,"postCount":$3',
      )
      .replaceAll('"stats":null', '"followerCount":null,"followingCount":null,"postCount":null'),
  ),
})
