import { EventKind, HistoryOrder } from '@holdfast/proto/history';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, MINUTE } from '../../src/domain/instant.js';
import { timestamp } from '../../src/rpc/encode/time.js';
import { type Database, openDatabase } from '../../src/store/database.js';
import { pruneHistory } from '../../src/store/retention.js';
import { createStore, type Store } from '../../src/store/store.js';
import { type MovableClock, stopClock } from '../support/clock.js';
import { DEFAULT_SETTINGS } from '../support/service.js';
import { Watching } from '../watch/watching.js';
import { type Board, startBoard } from './board.js';

let board: Board;
let clock: MovableClock;
let database: Database;
let store: Store;
beforeAll(async () => {
  board = await startBoard();
  clock = await stopClock(board.service.databaseUrl);
  database = openDatabase({ url: board.service.databaseUrl, poolSize: 1 });
  store = createStore(database, DEFAULT_SETTINGS, { eventsWritten() {}, tasksReady() {}, deadlineSet() {} });
});
afterAll(async () => {
  await database?.close();
  await clock?.close();
});

const prune = async () => {
  while ((await pruneHistory(store, 30 * DAY, 1_000)).more);
};

test('what is no longer kept leaves the lists, which say up to where, and pages go on behind it', async () => {
  const { history } = board.viewer;
  const { id: old } = await board.task('old');
  const oldestFirst = await history.listHistory({ pageSize: 2 });
  const newestFirst = await history.listHistory({ order: HistoryOrder.NEWEST_FIRST, pageSize: 1 });
  expect([oldestFirst.floor, oldestFirst.events.map(({ position }) => position)]).toEqual([0n, [1n, 2n]]);
  const floor = newestFirst.events[0]?.position ?? 0n;
  const watching = await new Watching(board.viewer).begun();
  await watching.stop();

  await clock.advance(30 * DAY + 1);
  const { id: young } = await board.task('young');
  await prune();

  const next = await history.listHistory({ pageSize: 2, pageToken: oldestFirst.nextPageToken });
  expect([next.floor, next.events.map(({ position }) => position)]).toEqual([
    floor,
    [floor + 1n, floor + 2n],
  ]);
  expect(next.events.map(({ taskId }) => taskId)).toEqual([young, young]);
  const last = await history.listHistory({
    order: HistoryOrder.NEWEST_FIRST,
    pageSize: 1,
    pageToken: newestFirst.nextPageToken,
  });
  expect(last).toMatchObject({ floor, events: [], nextPageToken: '' });
  expect(await history.listHistory({ taskId: old })).toMatchObject({ floor, events: [] });
  const atFloor = await new Watching(board.viewer, { resumeAfter: watching.token }).until(
    ({ positions }) => positions.length === 2,
  );
  expect(atFloor.positions).toEqual([Number(floor) + 1, Number(floor) + 2]);
  await atFloor.stop();
  expect((await board.viewer.tasks.getTask({ taskId: old })).task?.title).toBe('old');
});

test('a watch that would miss what was pruned is told so', async () => {
  const watching = await new Watching(board.viewer).begun();
  await watching.stop();
  await board.task();
  const { events } = await board.viewer.history.listHistory({});
  await clock.advance(30 * DAY + 1);
  await prune();
  const { code, gap } = await new Watching(board.viewer, { resumeAfter: watching.token }).ended();
  expect([code, gap?.reason, gap?.floor]).toEqual(['OutOfRange', 'COMPACTED', events.at(-1)?.position]);
});

test('the floor is the project’s own', async () => {
  await board.owner.projects.createProject({ project: 'elsewhere' });
  const { floor, events } = await board.owner.history.listHistory({ project: 'elsewhere' });
  expect([floor, events.map(({ kind }) => kind)]).toEqual([0n, [EventKind.PROJECT_CREATED]]);
});

test('the enforcement report says nothing of a time whose history is no longer kept', async () => {
  const taskId = (await board.task()).id;
  const warned = { taskId, text: 'without a proof', executionId: 'ada-run' };
  const since = timestamp(await clock.now());
  await board.agent.tasks.addNote(warned);
  await clock.advance(20 * DAY);
  await board.task('from when on all is kept');
  const keptFrom = await clock.now();
  await clock.advance(11 * DAY);
  const before = await board.viewer.history.getEnforcementReport({ since });
  expect(before).toMatchObject({ readyToEnforce: false });
  await prune();
  const after = await board.viewer.history.getEnforcementReport({ since });
  expect(after).toMatchObject({ readyToEnforce: true, counts: [] });
  const minute = new Date(Math.floor(keptFrom / MINUTE) * (MINUTE / 1_000)).toISOString().slice(0, 16);
  expect(after.summary).toContain(`since ${minute.replace('T', ' ')} UTC`);
});
