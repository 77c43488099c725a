import { timestampMs } from '@bufbuild/protobuf/wkt';
import { LeaseState } from '@holdfast/proto/guard';
import { EventKind } from '@holdfast/proto/history';
import { TaskStatus } from '@holdfast/proto/task';
import type { Checks } from './checks.js';
import { awaitEvent } from './history.js';
import type { Held, RaceResult } from './race.js';
import { script } from './script.js';
import type { Stage } from './stage.js';

/** Scene 2: an agent leaves a note and is killed; its lease runs out, and the other takes over where it stopped. */
export async function takeover(stage: Stage, race: RaceResult, checks: Checks): Promise<Held> {
  const { timeline } = stage;
  const { raced, other, winner: dead, won, loser: successor, instead } = race;

  const note = await dead.ask('note', raced.id, script.lastNote, won);
  checks.equal('the note is kept', note?.text, script.lastNote);
  timeline.add({
    who: dead.name,
    act: 'notes',
    taskId: raced.id,
    text: `${dead.name} notes "${script.lastNote}"`,
  });

  const done = await successor.ask('complete', other.id, script.otherResult, instead);
  checks.equal(
    `${successor.name} completes its own step`,
    'task' in done && done.task?.status,
    TaskStatus.DONE,
  );
  timeline.add({
    who: successor.name,
    act: 'completed',
    taskId: other.id,
    text: `${successor.name} completes "${other.title}"`,
  });

  checks.equal(`${dead.name} is killed`, await dead.kill(), 'SIGKILL');
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
  checks.equal(`${successor.name} is granted it`, outcome.case, 'grant');
  const grant = checks.present('the grant', outcome.case === 'grant' ? outcome.value : undefined);
  const lease = checks.present('its lease', grant.lease);
  const left = checks.present('its continuation', grant.continuation);
  checks.equal('the fencing token is one higher', lease.fencingToken, won.fencingToken + 1n);
  checks.equal('the attempt', left.attempt, 2);
  checks.equal('who held it before', left.previousHolder?.principal, dead.name);
  checks.equal('how that lease ended', LeaseState[left.previousEnd], 'EXPIRED');
  checks.equal('the last note', left.notes[0]?.text, script.lastNote);
  timeline.add({
    who: successor.name,
    act: 'taken over',
    taskId: raced.id,
    text: `${successor.name} takes over with fencing token ${lease.fencingToken}, attempt ${left.attempt}, and is told: before you ${left.previousHolder?.principal}, ${LeaseState[left.previousEnd]}; last note "${left.notes[0]?.text}"`,
  });
  return { leaseId: lease.id, fencingToken: lease.fencingToken };
}
