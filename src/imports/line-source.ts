import type { Checkpoint } from './checkpoint.ts'
import type { ImportSource } from './importer.ts'
import type { Line, TextFile } from './text-file.ts'

/**
 * Makes a source of the rows in a text file. Its position is a line number, its progress counts bytes.
 * Every run reads the file from its start.
 */
export const lineSource = <Row extends Pick<Line, 'line'>, Findings>(
  file: TextFile,
  rows: (start: Checkpoint) => AsyncIterable<Row>,
  findings: () => Findings,
): ImportSource<Row, Findings> => ({
  rows,
  findings,
  positionOf: ({ line }) => line,
  progress: () => ({ done: file.bytesRead, total: file.sizeBytes }),
})
