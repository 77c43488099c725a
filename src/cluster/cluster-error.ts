/** The embedded Postgres cannot be used as asked. The message says what to do next and is fit to be shown. */
export class ClusterError extends Error {
  override name = 'ClusterError';
}

const codesOfFullDisks = new Set(['ENOSPC', 'EDQUOT']);
const codesOfRefusedAccess = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Turns a file system's refusal below `folder` into a sentence; every other error is returned as it is. */
export function explainFileError(error: unknown, folder: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  const cause = { cause: error };
  if (codesOfFullDisks.has(code)) return new ClusterError(fullDisk(folder), cause);
  if (codesOfRefusedAccess.has(code)) {
    const path = (error as NodeJS.ErrnoException).path ?? folder;
    const hint = 'Run as the user who owns it, or choose another data folder.';
    return new ClusterError(`No permission to use ${path} (${code}). ${hint}`, cause);
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new ClusterError(`${folder} cannot be a data folder: a file is in its way.`, cause);
  }
  return error;
}

/** The failure of one of Postgres's programs, told with the last lines it wrote. */
export function explainOutput(what: string, output: string, folder: string): ClusterError {
  const lines = output.trim().split('\n').slice(-15).join('\n');
  if (/No space left on device|Disk quota exceeded|Check free disk space/i.test(output)) {
    return new ClusterError(`${what}: ${fullDisk(folder)}\n${lines}`);
  }
  return new ClusterError(`${what}. The last it said:\n${lines || '(nothing)'}`);
}

function fullDisk(folder: string): string {
  return `the disk that holds ${folder} is full. Free some space, or choose another data folder.`;
}
