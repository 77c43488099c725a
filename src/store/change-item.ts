import type { Change } from '../domain/change.js';
import type { RequestKey } from './requests.js';

/** What is applied as a whole or not at all. */
export interface ChangeItem {
  readonly project: string;
  readonly change: Change;
  /** Changes of other tasks that belong to it: the other ends of its edges. */
  readonly also?: readonly Change[] | undefined;
  /** Remembered in the same statement, so that a retry finds what was applied. */
  readonly request?: (RequestKey & { readonly ref: string }) | undefined;
}
