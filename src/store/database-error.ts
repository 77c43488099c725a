/** What went wrong in the database, as far as anybody acts on it. */
export type DatabaseFault =
  /** The statement was rolled back because others were in the way: doing it again may work. */
  | 'CONTENDED'
  /** It waited too long for a lock, and was rolled back. */
  | 'TIMED_OUT'
  /** A unique constraint refused it. */
  | 'DUPLICATE'
  /** The database is out of reach, restarting or gone; whether the statement was applied is not known. */
  | 'UNREACHABLE'
  | 'OTHER';

const CONTENDED = new Set(['40001', '40P01']);
const TIMED_OUT = new Set(['55P03', '57014']);

/**
 * Class 08 (connection), 57P (shutdown), 53 (out of resources), a database that is gone (3D000) or, after a
 * failover, read-only (25006), and the driver's own words for the same.
 */
const UNREACHABLE =
  /^(08...|25006|3D000|57P..|53...|58...|CONNECTION_.*|CONNECT_TIMEOUT|ECONN.*|ENOENT|EPIPE|ENOTFOUND|ETIMEDOUT|EAI_AGAIN)$/;

/** The SQLSTATE or driver code of an error; Drizzle hides it in the cause. */
function codeOf(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const { code } = e as { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return undefined;
}

export function faultOf(error: unknown): DatabaseFault {
  const code = codeOf(error);
  if (code === undefined) return 'OTHER';
  if (code === '23505') return 'DUPLICATE';
  if (CONTENDED.has(code)) return 'CONTENDED';
  if (TIMED_OUT.has(code)) return 'TIMED_OUT';
  return UNREACHABLE.test(code) ? 'UNREACHABLE' : 'OTHER';
}

/** Whether the statement was rolled back because of others, so that nothing of it was done. */
export function isThrownBack(error: unknown): boolean {
  return ['CONTENDED', 'TIMED_OUT', 'DUPLICATE'].includes(faultOf(error));
}

/** The name of the constraint that refused a statement. */
export function constraintOf(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const name = (e as { constraint_name?: unknown }).constraint_name;
    if (typeof name === 'string') return name;
  }
  return undefined;
}

/** Others were in the way until the tries ran out: nothing was done, and trying again later may work. */
export class Contention extends Error {
  override readonly name = 'Contention';
  constructor() {
    super('Too many others changed the same task at once. Nothing was done; try again.');
  }
}
