import { z } from 'zod';

// Fields that several tools have. A description costs tokens in each of them: only where the name does not say it.

export const taskId = z.string().min(1).max(256);
export const executionId = z.string().min(1).max(256).describe('Your run, as acquire answered it').optional();
export const ttlSeconds = z
  .number()
  .int()
  .min(1)
  .max(7_200)
  .describe('How long the lease lives without renewal')
  .optional();
export const queueFilter = {
  plan_id: z.string().max(256).optional(),
  labels: z.array(z.string().max(64)).max(64).describe('All of them').optional(),
  assignee: z.string().max(256).optional(),
};

/** A part of an answer whose fields are told by their names. */
export const part = z.looseObject({});
export const parts = z.array(part);
