import { durationFromMs, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { createHoldfast, explain, type Holdfast, InvalidRequest, WriteRejected } from '@holdfast/client';
import { FieldViolationSchema, WriteCode, WriteRejectionSchema } from '@holdfast/proto/guard';
import { ProjectService } from '@holdfast/proto/project';
import { TaskService } from '@holdfast/proto/task';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from './scripted-server.js';

const TOKEN = 'hf_secret';
let server: ScriptedServer;
let holdfast: Holdfast;

beforeAll(async () => {
  server = await startScriptedServer(({ service }) => {
    service(ProjectService, {
      whoAmI: (_request, { requestHeader }) => {
        if (requestHeader.get('authorization') === `Bearer ${TOKEN}`) return { principal: 'ann' };
        throw new ConnectError('no such token', Code.Unauthenticated);
      },
    });
    service(TaskService, {
      addNote: () => {
        throw rejection();
      },
      createTask: () => {
        const value = { field: 'title', description: 'is required' };
        throw new ConnectError('title is required', Code.InvalidArgument, undefined, [
          { desc: FieldViolationSchema, value },
        ]);
      },
    });
  });
  holdfast = createHoldfast({ url: server.url, token: TOKEN });
});

afterAll(async () => {
  holdfast.close();
  await server.close();
});

describe('createHoldfast', () => {
  it('sends the token over HTTP/2', async () => {
    await expect(holdfast.projects.whoAmI({})).resolves.toMatchObject({ principal: 'ann' });
  });

  it('never tells the token in an error', async () => {
    const other = createHoldfast({ url: server.url, token: 'hf_wrong' });
    const error = await other.projects.whoAmI({}).catch((thrown) => thrown);
    other.close();
    expect(error).toMatchObject({ code: Code.Unauthenticated });
    expect(`${error.stack} ${JSON.stringify(error)} ${explain(error)}`).not.toContain('hf_wrong');
  });

  it('names an execution of its own unless it is given one', () => {
    const given = createHoldfast({ url: server.url, token: TOKEN, executionId: 'run-1' });
    expect(given.executionId).toBe('run-1');
    expect(holdfast.executionId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('refuses an address that is none', () => {
    expect(() => createHoldfast({ url: 'localhost:7420', token: TOKEN })).toThrow(TypeError);
  });

  it('turns a rejection into a typed error with all its fields', async () => {
    const error = await holdfast.tasks.addNote({}).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(WriteRejected);
    expect(error).toMatchObject({
      code: 'LOCKED_BY_OTHER',
      taskId: 'task-1',
      holder: { principal: 'bob', executionId: 'run-2' },
      expiresAt: new Date('2026-03-01T00:00:00Z'),
      retryAfterMs: 1_500,
      fencingToken: 9n,
      advice: 'Take another task.',
    });
    expect(explain(error)).toBe(
      'Refused, LOCKED_BY_OTHER: somebody else holds the task (held by bob, execution run-2 until 2026-03-01T00:00:00.000Z).\nTake another task.',
    );
  });

  it('turns a bad field into a typed error that names it', async () => {
    const error = await holdfast.tasks.createTask({}).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidRequest);
    expect(explain(error)).toBe('title: is required');
  });

  it('explains that nobody listens', async () => {
    const nobody = createHoldfast({ url: 'http://127.0.0.1:9', token: TOKEN });
    const error = await nobody.projects.whoAmI({}).catch((thrown) => thrown);
    nobody.close();
    expect(error).toMatchObject({ code: Code.Unavailable });
    expect(explain(error)).toContain('The server cannot be reached');
  });
});

function rejection(): ConnectError {
  const value = {
    code: WriteCode.LOCKED_BY_OTHER,
    taskId: 'task-1',
    holder: { principal: 'bob', executionId: 'run-2' },
    expiresAt: timestampFromDate(new Date('2026-03-01T00:00:00Z')),
    retryAfter: durationFromMs(1_500),
    fencingToken: 9n,
    advice: 'Take another task.',
  };
  return new ConnectError('LOCKED_BY_OTHER', Code.FailedPrecondition, undefined, [
    { desc: WriteRejectionSchema, value },
  ]);
}
