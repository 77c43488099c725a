import { z } from 'zod';
import { secondsLeft } from './holdings.js';
import type { ToolCall } from './tool.js';
import { lossText } from './trouble.js';

/** What every answer of a tool tells of the caller's leases. */
export const standingFields = {
  lease_seconds_left: z.number().int().optional(),
  lease_lost: z.array(z.string()).optional(),
};

/** How long the lease on `taskId` lives, or without one of all the one that ends first; and which were lost. */
export function standing({ holdings: { live, untold }, clock, names }: ToolCall, taskId: string | undefined) {
  // Of a call about a task that is not held, another one's time would be taken for this one's.
  const told = [...live].filter(([held]) => taskId === undefined || held === taskId);
  const now = clock.now();
  const left = told.map(([, { lease, asked }]) => secondsLeft(lease, asked, now));
  const lost = untold.map((lease) => lossText(lease, names));
  return {
    ...(left.length > 0 && { lease_seconds_left: Math.min(...left) }),
    ...(lost.length > 0 && { lease_lost: lost }),
  };
}
