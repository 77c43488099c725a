/** The command's exit codes. */
export const ExitCode = { DONE: 0, FAILED: 1, USAGE: 2, REFUSED: 3 } as const;

/** The command line can't be carried out as given. The message says what to give instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
