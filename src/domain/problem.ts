import type { WriteCode } from './event.js';
import type { Micros } from './instant.js';
import type { UnmetDependency } from './neighbours.js';
import type { Holder } from './principal.js';

/** The guard's complaint about a write or renewal, with what the caller needs to act on it. */
export interface WriteRejection {
  readonly code: WriteCode;
  readonly taskId: string;
  readonly fencingToken: bigint;
  /** The live lease that stands in the way, and how long it lives from now. */
  readonly live?: { readonly holder: Holder; readonly expiresAt: Micros; readonly remaining: Micros };
  readonly advice: string;
}

/** Why a call cannot be done. Each kind is one status code on the wire. */
export type Problem =
  | { readonly kind: 'INVALID_ARGUMENT'; readonly field: string; readonly description: string }
  | { readonly kind: 'NOT_FOUND'; readonly message: string }
  | { readonly kind: 'ALREADY_EXISTS'; readonly message: string }
  | { readonly kind: 'PERMISSION_DENIED'; readonly message: string }
  | { readonly kind: 'FAILED_PRECONDITION'; readonly message: string }
  /** `unmet` tells some of them, `count` how many there are. */
  | { readonly kind: 'BLOCKED'; readonly unmet: readonly UnmetDependency[]; readonly count: number }
  | { readonly kind: 'ETAG_MISMATCH'; readonly message: string }
  | { readonly kind: 'WRITE_REJECTED'; readonly rejection: WriteRejection };

export function noSuchTask(taskId: string): Problem {
  return { kind: 'NOT_FOUND', message: `There is no task ${JSON.stringify(taskId)} in this project.` };
}

/** Also said of a lease that is somebody else's: lease ids are secrets of their holders. */
export function noSuchLease(): Problem {
  return { kind: 'NOT_FOUND', message: 'You hold and held no such lease in this project.' };
}
