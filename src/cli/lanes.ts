import { durationMs } from '@bufbuild/protobuf/wkt';
import { type Event, EventKind } from '@holdfast/proto/history';
import type { Lease } from '@holdfast/proto/lease';
import { eventText } from './event-text.js';
import type { Style } from './style.js';
import { columns, counted, cutTo, oneLine } from './text.js';
import { moment } from './time.js';
import type { ProjectNews } from './watch-projects.js';

/** A lease as somebody watches it: with its deadline by this process's clock. */
interface Lane {
  readonly project: string;
  readonly taskId: string;
  readonly principal: string;
  readonly executionId: string;
  readonly attempt: number;
  endsAtMs: number;
}

/** Lines that are kept for what happened last, however many leases there are. */
const LEAST_LINES = 8;
const SHOWN_EVENTS = 50;

/** What is known of who holds what, from the news of a watch. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #titles = new Map<string, string>();
  #recent: Event[] = [];

  /** @param nowMs the monotonic clock when the news arrived */
  hear({ project, news }: ProjectNews, nowMs: number): void {
    if (news.kind === 'snapshot') {
      for (const [taskId, lane] of this.#lanes) if (lane.project === project) this.#lanes.delete(taskId);
      for (const lease of news.leases) this.#held(project, lease, nowMs);
    } else if (news.kind === 'renewed') {
      for (const lease of news.leases) if (this.#lanes.has(lease.taskId)) this.#held(project, lease, nowMs);
    } else if (news.kind === 'event') {
      this.#happened(news.event, nowMs);
    }
  }

  /** The tasks that are shown and whose titles nobody told yet. */
  get untitled(): { project: string; taskId: string }[] {
    const shown = [...this.#lanes.values(), ...this.#recent];
    return shown.filter(({ taskId }) => taskId !== '' && !this.#titles.has(taskId));
  }

  entitle(taskId: string, title: string): void {
    this.#titles.set(taskId, title);
  }

  /** One lane for each lease, by holder, and under them what happened last. Fits `width` and `height`. */
  text(nowMs: number, width: number, height: number, style: Style): string {
    const lanes = [...this.#lanes.values()].sort(
      (a, b) =>
        order(a.principal, b.principal) || order(a.executionId, b.executionId) || a.endsAtMs - b.endsAtMs,
    );
    const room = Math.max(1, height - LEAST_LINES);
    const holders = lanes.map((lane) => oneLine(`${lane.principal} ${lane.executionId}`));
    const widest = Math.min(Math.floor(width / 3), Math.max(0, ...holders.map(columns)));
    const rows = lanes.slice(0, room).map((lane, at) => {
      const holder = cutTo(widest, holders[at] ?? '');
      const left = (lane.endsAtMs - nowMs) / 1_000;
      const countdown = left > 0 ? clock(left) : 'lapsed';
      const attempt = lane.attempt > 1 ? ` (attempt ${lane.attempt})` : '';
      const plain = `${holder}${' '.repeat(widest - columns(holder))}  ${countdown.padStart(8)}  `;
      const title = cutTo(Math.max(1, width - columns(plain)), `${this.#title(lane.taskId)}${attempt}`);
      return colour(style, left)(plain) + title;
    });
    const more = lanes.length > room ? [style.dim(`… and ${lanes.length - room} more`)] : [];
    const recent = this.#recent.slice(-(height - rows.length - more.length - 3)).map((event) => {
      const what = `${EventKind[event.kind]}  ${this.#title(event.taskId)}  ${oneLine(eventText(event))}`;
      return cutTo(width, `${moment(event.at).slice(11)}  ${oneLine(event.actor)}  ${what}`);
    });
    const heading = lanes.length === 0 ? 'Nobody holds a lease.' : `${counted(lanes.length, 'lease')} held`;
    return [style.bold(heading), ...rows, ...more, '', ...recent.map((line) => style.dim(line))].join('\n');
  }

  #happened(event: Event, nowMs: number): void {
    const { kind, taskId, payload } = event;
    if (payload.case === 'taskCreated') this.#titles.set(taskId, payload.value.title);
    if (payload.case === 'leaseGranted' && payload.value.holder) {
      const { holder, attempt, ttl } = payload.value;
      const lane = {
        project: event.project,
        taskId,
        principal: holder.principal,
        executionId: holder.executionId,
        attempt,
      };
      this.#lanes.set(taskId, { ...lane, endsAtMs: nowMs + (ttl ? durationMs(ttl) : 0) });
    }
    if (payload.case === 'leaseEnded' || kind === EventKind.TASK_DELETED) this.#lanes.delete(taskId);
    this.#recent = [...this.#recent, event].slice(-SHOWN_EVENTS);
  }

  #held(project: string, { taskId, holder, attempt, remaining }: Lease, nowMs: number): void {
    const lane = {
      project,
      taskId,
      principal: holder?.principal ?? '',
      executionId: holder?.executionId ?? '',
      attempt,
    };
    this.#lanes.set(taskId, { ...lane, endsAtMs: nowMs + (remaining ? durationMs(remaining) : 0) });
  }

  #title(taskId: string): string {
    return oneLine(this.#titles.get(taskId) ?? taskId);
  }
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** `1:02:03`, `14:59`. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

/** Near its end a lease turns. */
function colour(style: Style, seconds: number): (text: string) => string {
  if (seconds <= 10) return style.red;
  return seconds <= 60 ? style.yellow : style.green;
}
