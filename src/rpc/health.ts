import { setTimeout as sleep } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { Health, HealthCheckResponse_ServingStatus as Status } from '@holdfast/proto/grpc/health/v1/health';

/** How long a change of health may go unnoticed by Watch, in milliseconds. */
const POLL_MS = 1_000;

/** Where the health service learns whether the server can work. */
export interface HealthSource {
  /** Never rejects. */
  check(): Promise<{ ok: boolean }>;
  /** Whether the server is shutting down. */
  readonly draining: boolean;
}

/** Registers `grpc.health.v1.Health` for the server as a whole (the empty name) and for each of `services`. */
export function registerHealth(
  router: ConnectRouter,
  services: readonly DescService[],
  source: HealthSource,
): void {
  const names = new Set(['', ...services.map((service) => service.typeName)]);
  const status = async () => ((await source.check()).ok ? Status.SERVING : Status.NOT_SERVING);

  router.service(Health, {
    async check({ service }) {
      if (!names.has(service)) {
        throw new ConnectError(`no service of the name ${JSON.stringify(service)} here`, Code.NotFound);
      }
      return { status: await status() };
    },

    async *watch({ service }, { signal }) {
      let told: Status | undefined;
      while (!signal.aborted) {
        const now = names.has(service) ? await status() : Status.SERVICE_UNKNOWN;
        if (now !== told) yield { status: now };
        told = now;
        await sleep(POLL_MS, undefined, { signal }).catch(() => {});
      }
      if (source.draining && names.has(service) && told !== Status.NOT_SERVING) {
        yield { status: Status.NOT_SERVING };
      }
      throw signal.reason;
    },
  });
}
