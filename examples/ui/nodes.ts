/** The nodes of a page, without those that were deleted while it was read. */
export const nodesOf = <Node>(edges: readonly { node?: Node | null | undefined }[] = []): Node[] =>
  edges.flatMap(({ node }) => node ?? [])
