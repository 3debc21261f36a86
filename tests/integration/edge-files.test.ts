import { edgeFiles } from '../support/edge-files.ts'
import { describeImports } from '../support/imported-files.ts'
import { share } from '../support/repetition.ts'

describeImports(share(3, edgeFiles))
