import type { Micros } from './instant.js';

export type Enforcement = 'OFF' | 'WARN' | 'ENFORCE';

/** A project's rules with the server's defaults filled in. */
export interface Settings {
  readonly enforcement: Enforcement;
  readonly defaultTtl: Micros;
  readonly maxTtl: Micros;
  /** How long after its grant a lease may be renewed; 0: for ever. */
  readonly maxAge: Micros;
  /** Expiries in a row that quarantine a task; 0: never. */
  readonly maxExpiries: number;
}
