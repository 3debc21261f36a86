import { edgeFiles } from '../support/edge-files.ts'
import { describeImports } from '../support/imported-files.ts'

describeImports(edgeFiles)
