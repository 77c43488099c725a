import { durationMs, type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Lease } from '@holdfast/proto/lease';

/**
 * The server's clock as far as a page can know it: for showing times, never for deciding. A lease says both when it
 * ends and how long that is from now, so the difference is the server's now.
 */
export class ServerClock {
  #offsetMs = 0;

  /** Milliseconds since 1970, by the server. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  hearLeases(leases: readonly Lease[]): void {
    for (const { expiresAt, remaining } of leases) {
      if (expiresAt && remaining)
        this.#offsetMs = timestampMs(expiresAt) - durationMs(remaining) - Date.now();
    }
  }

  /** What happened cannot be in the future. */
  hearEvent(at: Timestamp | undefined): void {
    if (at) this.#offsetMs = Math.max(this.#offsetMs, timestampMs(at) - Date.now());
  }
}
