import { collectionOf } from '../db/collection-spec.ts'

/** The checkpoint of an import. */
export interface ImportDoc {
  readonly _id: string
  readonly [field: string]: unknown
}

/** What imports store. */
export const importCollections = {
  imports: collectionOf<ImportDoc>()({ about: 'the progress of an import', indexes: [] }),
}
