/** What an entry of the timeline tells. */
export type Act =
  | 'looks'
  | 'reaches'
  | 'granted'
  | 'refused'
  | 'notes'
  | 'killed'
  | 'expired'
  | 'taken over'
  | 'returns'
  | 'rejected'
  | 'completed';

/** Something that happened during the demo. */
export interface Entry {
  /** Milliseconds since the first scene began. */
  readonly atMs: number;
  readonly scene: string;
  /** Whose lane it is in. */
  readonly who: string;
  readonly act: Act;
  readonly text: string;
  readonly taskId: string;
  /** Whose lane it changes, when that is another one: the holder whose lease ran out. */
  readonly holder?: string;
}

/** Who follows the demo while it runs. */
export interface Audience {
  scene(number: number, title: string): void;
  entry(entry: Entry): void;
}

/** All that happened so far, in order; every entry is shown at once. */
export class Timeline {
  readonly entries: Entry[] = [];
  readonly #audience: Audience;
  #began: number | undefined;
  #scene = '';
  #scenes = 0;

  constructor(audience: Audience) {
    this.#audience = audience;
  }

  /** Begins a scene; time counts from the first one. */
  beginScene(name: string, title: string): void {
    this.#began ??= performance.now();
    this.#scene = name;
    this.#audience.scene(++this.#scenes, title);
  }

  add(entry: Omit<Entry, 'atMs' | 'scene'>): void {
    const dated = {
      atMs: Math.round(performance.now() - (this.#began ?? performance.now())),
      scene: this.#scene,
      ...entry,
    };
    this.entries.push(dated);
    this.#audience.entry(dated);
  }
}
