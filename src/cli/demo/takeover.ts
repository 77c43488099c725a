import { timestampMs } from '@bufbuild/protobuf/wkt';
import { EventKind } from '@holdfast/proto/history';
import type { Held } from './agent-acts.js';
import type { Checks } from './checks.js';
import { awaitEvent } from './history.js';
import type { RaceResult } from './race.js';
import { script } from './script.js';
import type { Stage } from './stage.js';

/** Scene 2: an agent leaves a note and is killed; its lease runs out, and the other takes over where it stopped. */
export async function takeover(stage: Stage, race: RaceResult, checks: Checks): Promise<Held> {
  const { timeline } = stage;
  const { raced, other, winner: dead, won, loser: successor, instead } = race;

  const note = await dead.ask('note', raced.id, script.lastNote, won);
  checks.equal('the note is kept', note, script.lastNote);
  timeline.add({
    who: dead.name,
    act: 'notes',
    taskId: raced.id,
    text: `${dead.name} notes "${script.lastNote}"`,
  });

  const done = await successor.ask('complete', other.id, script.otherResult, instead);
  checks.equal(`${successor.name} completes its own step`, 'status' in done && done.status, 'DONE');
  timeline.add({
    who: successor.name,
    act: 'completed',
    taskId: other.id,
    text: `${successor.name} completes "${other.title}"`,
  });

  await dead.kill();
  timeline.add({
    who: dead.name,
    act: 'killed',
    taskId: raced.id,
    text: `${dead.name}'s process ${dead.pid} is killed; nobody releases its lease`,
  });

  const expiry = checks.present(
    "the lease's expiry is in the history",
    await awaitEvent(stage, { taskId: raced.id, kinds: [EventKind.LEASE_EXPIRED] }, script.ttlMs + 5_000),
  );
  const ended = expiry.payload.case === 'leaseEnded' ? expiry.payload.value : undefined;
  const lateMs =
    expiry.at && ended?.expiresAt ? timestampMs(expiry.at) - timestampMs(ended.expiresAt) : Number.NaN;
  checks.equal('it is recorded at its deadline or after, never before', lateMs >= 0, true);
  checks.equal('nobody did it', expiry.actor, '');
  timeline.add({
    who: 'holdfast',
    act: 'expired',
    taskId: raced.id,
    holder: dead.name,
    text: `${dead.name}'s lease ran out by itself, recorded ${Math.round(lateMs)} ms after its deadline`,
  });

  const open = await successor.ask('look', raced.planId);
  checks.equal(
    'the step is ready again',
    open.map((task) => task.id),
    [raced.id],
  );
  const outcome = await successor.ask('acquire', raced.id, script.ttlMs);
  const grant = 'grant' in outcome ? outcome.grant : undefined;
  const { leaseId, fencingToken, attempt, previousHolder, previousEnd, lastNote } = checks.present(
    `${successor.name} is granted it`,
    grant,
  );
  checks.equal('the fencing token is one higher', fencingToken, won.fencingToken + 1n);
  checks.equal('the attempt', attempt, 2);
  checks.equal('who held it before', previousHolder, dead.name);
  checks.equal('how that lease ended', previousEnd, 'EXPIRED');
  checks.equal('the last note', lastNote, script.lastNote);
  timeline.add({
    who: successor.name,
    act: 'taken over',
    taskId: raced.id,
    text: `${successor.name} takes over with fencing token ${fencingToken}, attempt ${attempt}, and is told: before you ${previousHolder}, ${previousEnd}; last note "${lastNote}"`,
  });
  return { leaseId, fencingToken };
}
