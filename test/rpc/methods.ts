import type { DescMessage, DescMethod } from '@bufbuild/protobuf';
import { HistoryService } from '@holdfast/proto/history';
import { LeaseService } from '@holdfast/proto/lease';
import { ProjectService } from '@holdfast/proto/project';
import { TaskService } from '@holdfast/proto/task';

/** The services of the API. */
const SERVICES = [LeaseService, TaskService, HistoryService, ProjectService] as const;

/** Every RPC of the API, by `Service/Method`. */
export const METHODS: ReadonlyMap<string, DescMethod> = new Map(
  SERVICES.flatMap((service) =>
    service.methods.map((method): [string, DescMethod] => [`${service.name}/${method.name}`, method]),
  ),
);

/** Every RPC's name: `Service/Method`. */
export const NAMES: readonly string[] = [...METHODS.keys()];

/** An RPC by its name. */
export function methodOf(name: string): DescMethod {
  const method = METHODS.get(name);
  if (!method) throw new Error(`there is no RPC ${name}`);
  return method;
}

/** A message and all messages of the API inside of it. */
export function messagesIn(message: DescMessage, seen = new Set<DescMessage>()): Set<DescMessage> {
  if (seen.has(message) || !message.typeName.startsWith('holdfast.')) return seen;
  seen.add(message);
  for (const field of message.fields) if (field.message) messagesIn(field.message, seen);
  return seen;
}
