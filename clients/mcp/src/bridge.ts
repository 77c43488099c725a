import type { Clock, Holdfast } from '@holdfast/client';
import type { Executions } from './executions.js';
import type { Toolset } from './toolset.js';

/** One caller's way to Holdfast. */
export interface Bridge {
  readonly holdfast: Holdfast;
  /** Empty: the token's. */
  readonly project: string;
  readonly executions: Executions;
  readonly toolset: Toolset;
  /** Fires when the server stops: calls that wait are then answered at once. */
  readonly stopping?: AbortSignal;
  readonly clock?: Clock;
}
