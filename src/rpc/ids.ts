import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';

/** An id that rises with time, so that it is kind to indexes. Not a secret. */
export const newId = (): string => uuidv7();

/** 128 random bits: a lease's id is known to its holder alone. */
export const newLeaseId = (): string => randomBytes(16).toString('base64url');

/** A token's secret: 256 random bits. */
export const newSecret = (): string => `hf_${randomBytes(32).toString('base64url')}`;

/** What a webhook's deliveries are signed with, as Standard Webhooks has it: 256 random bits. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
