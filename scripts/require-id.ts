import {
  GraphQLError,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql'

/**
 * Refuses a field that selects no `id` of an object that has one, because normalised caches cannot
 * merge such an object. Fragments count.
 */
export const requireId: ValidationRule = (context) => {
  const selectsId = ({ selections }: SelectionSetNode): boolean =>
    selections.some((selection) => {
      if (selection.kind === 'Field') return !selection.alias && selection.name.value === 'id'
      if (selection.kind === 'InlineFragment') return selectsId(selection.selectionSet)
      const fragment = context.getFragment(selection.name.value)
      return fragment ? selectsId(fragment.selectionSet) : false
    })
  return {
    SelectionSet: (selection, _key, parent) => {
      const type = context.getParentType()
      const hasId = (isObjectType(type) || isInterfaceType(type)) && type.getFields().id
      const isOfField = parent && 'kind' in parent && parent.kind === 'Field'
      if (!hasId || !isOfField || selectsId(selection)) return
      const problem = `"${parent.name.value}" selects no id of its ${type.name}`
      context.reportError(new GraphQLError(problem, { nodes: parent }))
    },
  }
}
