import { badInput, checkEach } from '../errors.ts'
import { checkedText, type TextRules } from '../lib/text.ts'

/** Number of groups that may contain one followee. */
export const groupsPerEdgeMax = 10
/** Number of groups that a user may have. */
export const groupsPerUserMax = 100
/** The rules of a group's name. */
export const groupNameRules: TextRules = { form: 'line', graphemesMax: 64, bytesMax: 256 }

/**
 * Group names as they are stored: NFC, trimmed, without repeats, sorted.
 * @throws {DomainError} BAD_USER_INPUT for more than ten names, or a name that is empty, malformed
 *   or over 64 characters.
 */
export function checkGroups(argument: string, names: readonly string[]): string[] {
  if (names.length > groupsPerEdgeMax) {
    throw badInput(argument, `must contain at most ${groupsPerEdgeMax} groups`)
  }
  const checked = checkEach(names, (name, at) => checkGroup(`${argument}.${at}`, name))
  return [...new Set(checked)].sort()
}

/** As {@link checkGroups}, for one name. */
export function checkGroup(argument: string, given: string): string {
  const { text, problem } = checkedText(given.trim(), groupNameRules)
  if (problem !== undefined) throw badInput(argument, problem)
  return text
}
