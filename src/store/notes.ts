import { and, desc, eq } from 'drizzle-orm';
import type { NoteDraft } from '../domain/change.js';
import { cutText } from '../domain/event.js';
import type { Micros } from '../domain/instant.js';
import { note } from './schema.js';
import type { Store } from './store.js';

export interface Note extends NoteDraft {
  readonly createdAt: Micros;
}

/** A task's newest notes, newest first. */
export async function newestNotes(
  { database: { orm } }: Store,
  project: string,
  taskId: string,
  limit: number,
): Promise<Note[]> {
  const rows = await orm
    .select()
    .from(note)
    .where(and(eq(note.project, project), eq(note.taskId, taskId)))
    .orderBy(desc(note.seq))
    .limit(limit);
  return rows.map(noteOf);
}

export async function findNote(
  { database: { orm } }: Store,
  project: string,
  id: string,
): Promise<(Note & { taskId: string }) | undefined> {
  const [row] = await orm
    .select()
    .from(note)
    .where(and(eq(note.project, project), eq(note.id, id)));
  return row && { ...noteOf(row), taskId: row.taskId };
}

/** The newest note, cut to what an event tells of it. */
export async function lastNote(store: Store, project: string, taskId: string): Promise<string | undefined> {
  const [newest] = await newestNotes(store, project, taskId, 1);
  return newest && cutText(newest.text);
}

function noteOf(row: typeof note.$inferSelect): Note {
  return {
    id: row.id,
    author: row.author,
    executionId: row.executionId ?? undefined,
    text: row.text,
    createdAt: row.createdAt,
  };
}
