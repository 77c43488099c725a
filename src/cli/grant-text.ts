import { LeaseState } from '@holdfast/proto/guard';
import {
  type Continuation,
  type Grant,
  type Lease,
  type Refusal,
  RefusalReason,
} from '@holdfast/proto/lease';
import { TaskStatus } from '@holdfast/proto/task';
import type { Output } from './output.js';
import type { Style } from './style.js';
import { details } from './table.js';
import { holderText, joinSections, notesText, section, taskTable, unmetText } from './task-text.js';
import { oneLine } from './text.js';
import { moment, span } from './time.js';

/** A lease's end for people: the server's time, and how long that is from its answer on. */
export function leaseEnd(lease: Lease): string {
  return `${moment(lease.expiresAt)} (in ${span(lease.remaining)})`;
}

/** A grant, what earlier holders left, and the commands to go on with. */
export function grantText({ lease, task, continuation, renewed }: Grant, out: Output): string {
  if (!lease || !task) return '';
  const { style } = out;
  const facts = details(
    [
      ['task', task.id],
      ['lease', lease.id],
      ['fencing token', String(lease.fencingToken)],
      ['execution', lease.holder?.executionId ?? ''],
      ['until', leaseEnd(lease)],
      ['attempt', String(lease.attempt)],
    ],
    style,
  );
  return joinSections(
    `${style.green(renewed ? 'Claimed before, renewed:' : 'Claimed:')} ${style.bold(oneLine(task.title))}\n${facts}`,
    section('Body', task.body, style),
    continuation ? continuationText(continuation, style) : '',
    goOn(lease, style),
  );
}

function continuationText(left: Continuation, style: Style): string {
  const before = left.previousHolder
    ? section(
        'Before you',
        `${holderText(left.previousHolder)}; that lease ended ${LeaseState[left.previousEnd]} at ${moment(left.previousEndedAt)}`,
        style,
      )
    : '';
  const results = left.dependencyResults.map(({ taskId, title, result, truncated }) => {
    const rest = truncated ? `\n… (all of it: holdfast task show ${taskId})` : '';
    return section(oneLine(title), `${result}${rest}`, style);
  });
  return joinSections(before, notesText(left.notes, style), ...results);
}

function goOn({ taskId, id, fencingToken, holder }: Lease, style: Style): string {
  const proof = `--execution ${holder?.executionId} --lease ${id} --fence ${fencingToken}`;
  const commands = [
    `holdfast renew ${taskId} ${proof}`,
    `holdfast task done ${taskId} --result TEXT ${proof}`,
    `holdfast release ${taskId} --note TEXT ${proof}`,
  ];
  return section('Go on with', commands.join('\n'), style);
}

/** A refusal: why, who has it, and what to take instead. */
export function refusalText(refusal: Refusal, out: Output): string {
  const { style } = out;
  const facts = details(
    [
      ['held by', holderText(refusal.holder)],
      ['until', moment(refusal.expiresAt)],
      ['ask again in', span(refusal.retryAfter)],
      ['task is', refusal.taskStatus ? TaskStatus[refusal.taskStatus] : ''],
    ],
    style,
  );
  const head = [
    `${style.yellow('Not granted:')} ${RefusalReason[refusal.reason]}`,
    facts,
    oneLine(refusal.advice),
  ];
  const others = refusal.alternatives;
  return joinSections(
    head.filter((line) => line !== '').join('\n'),
    unmetText(refusal.unmetDependencies, style),
    others.length > 0 ? `${style.bold('You could take')}\n${taskTable(out, others, '')}` : '',
  );
}
