import { readFileSync } from 'node:fs';
import type { Json } from './matching.js';

type Fields = Record<string, Json>;

/** One step; scenarios.schema.json says which keys each verb has. */
export type Step =
  | {
      do: 'call';
      as: string;
      rpc: string;
      request: Fields;
      answer?: Fields;
      error?: Fields;
      bind?: Record<string, string>;
      repeat?: true;
    }
  | {
      do: 'hold';
      as: string;
      held: string;
      wanted: Fields;
      ttlMs?: number;
      waitMs?: number;
      background?: true;
      answer?: Fields;
      error?: Fields;
      bind?: Record<string, string>;
    }
  | { do: 'holds'; held: string; answer?: Fields; bind?: Record<string, string> }
  | { do: 'write'; held: string; write: string; request: Fields; answer?: Fields; error?: Fields }
  | { do: 'renewed'; held: string; times: number }
  | { do: 'stopped'; held: string; error: Fields }
  | { do: 'leave'; held: string; releaseNote?: string; throwing?: string; error?: Fields }
  | {
      do: 'work';
      as: string;
      next: Fields;
      tasks: number;
      result: string;
      failing?: Record<string, string>;
      titles: string[];
    }
  | { do: 'watch'; as: string; watch: string; options: Fields }
  | { do: 'news'; watch: string; news: Fields[]; bind?: Record<string, string> }
  | { do: 'unwatch'; watch: string; error?: Fields }
  | { do: 'server'; act: string; project?: string }
  | { do: 'calculate'; function: string; input: Fields; output: Fields };

/** What a step of one verb has. */
export type StepOf<Verb extends Step['do']> = Extract<Step, { do: Verb }>;

interface Principal {
  kind: 'PRINCIPAL_KIND_AGENT' | 'PRINCIPAL_KIND_PERSON';
  role: string;
  connection?: 'faulty';
}

export interface Scenario {
  name: string;
  settings?: Fields;
  principals: Record<string, Principal>;
  steps: Step[];
}

export interface ScenarioFile {
  subject: string;
  scenarios: Scenario[];
}

export interface Manifest {
  version: number;
  files: { file: string; scenarios: number }[];
  scenarios: number;
  verbs: string[];
}

/** A JSON file of this folder. */
export function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}
