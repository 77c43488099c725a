import { createHash } from 'node:crypto';
import type { Place } from '../feed/watcher.js';
import { invalidArgument } from './problems.js';

/** Bytes of the check sum: enough that no garbage passes, and the token is no secret. */
const CHECK_BYTES = 6;
const LAST_POSITION = 2n ** 63n - 1n;

/** The text under which a client keeps its place. Opaque to it, and the same on every replica. */
export function resumeTokenOf({ epoch, project, position }: Place): string {
  const text = Buffer.from(`${epoch} ${position} ${project}`);
  return Buffer.concat([checkOf(text), text]).toString('base64url');
}

/**
 * The place that a token stands for.
 *
 * @throws INVALID_ARGUMENT resume_after: when no server made it, or for another project. Starting anew would not help a
 *   client that mixes up its projects, so that is not told as a gap.
 */
export function placeIn(token: string, project: string): Place {
  const bytes = Buffer.from(token, 'base64url');
  const text = bytes.subarray(CHECK_BYTES);
  const found = /^(\S+) (\d{1,19}) (.+)$/s.exec(text.toString());
  // Decoding passes over what is no base64url: only what encodes to the same token was made here.
  if (
    !found ||
    !bytes.subarray(0, CHECK_BYTES).equals(checkOf(text)) ||
    bytes.toString('base64url') !== token
  ) {
    throw invalidArgument('resume_after', 'is not a resume_token that WatchLeases gave');
  }
  const place = {
    epoch: found[1] as string,
    project: found[3] as string,
    position: BigInt(found[2] as string),
  };
  if (place.position > LAST_POSITION) throw invalidArgument('resume_after', 'is damaged');
  if (place.project !== project)
    throw invalidArgument('resume_after', 'is the resume_token of another project');
  return place;
}

const checkOf = (text: Uint8Array): Buffer =>
  createHash('sha256').update('holdfast resume token\n').update(text).digest().subarray(0, CHECK_BYTES);
