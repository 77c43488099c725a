import type { Logger } from 'pino';

/** Whether the server can do its work, or why not. The reason is shown to anyone who asks: no secrets. */
export type Readiness = { ok: true } | { ok: false; reason: string };

/** An answer is given to everyone who asks within this time: the probes of many cost the database one. */
const FRESH_MS = 500;

/** Answers "can this server work?" for /readyz and grpc.health.v1. */
export class ReadinessProbe {
  #last: { at: number; answer: Promise<Readiness> } | undefined;
  #draining = false;

  /** @param timeoutMs how long `ready` may take before it counts as failed, in milliseconds. */
  constructor(
    private readonly ready: () => Promise<Readiness>,
    private readonly timeoutMs: number,
    private readonly log: Pick<Logger, 'error'>,
  ) {}

  /** From now on the answer is no. */
  drain(): void {
    this.#draining = true;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Never rejects. */
  async check(): Promise<Readiness> {
    if (!this.#last || performance.now() - this.#last.at > FRESH_MS) {
      this.#last = { at: performance.now(), answer: this.#ask() };
    }
    const answer = await this.#last.answer;
    return this.#draining ? { ok: false, reason: 'the server is shutting down' } : answer;
  }

  async #ask(): Promise<Readiness> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Readiness>((resolve) => {
      const reason = `the readiness check took longer than ${this.timeoutMs} ms`;
      timer = setTimeout(resolve, this.timeoutMs, { ok: false, reason });
    });
    try {
      return await Promise.race([this.ready(), late]);
    } catch (err) {
      this.log.error({ err }, 'the readiness check failed');
      return { ok: false, reason: "the readiness check failed: see the server's log" };
    } finally {
      clearTimeout(timer);
    }
  }
}
