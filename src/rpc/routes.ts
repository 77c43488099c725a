import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import { HistoryService } from '@holdfast/proto/history';
import { LeaseService } from '@holdfast/proto/lease';
import { ProjectService } from '@holdfast/proto/project';
import { TaskService } from '@holdfast/proto/task';
import { type Api, handlers, streamHandlers } from './api.js';
import { historyFunctions } from './history-service.js';
import { leaseFunctions } from './lease-service.js';
import { projectFunctions } from './project-service.js';
import { taskFunctions } from './task-service.js';
import { watchLeases } from './watch.js';

/** Registers the four services. An RPC without a function answers UNIMPLEMENTED. */
export function routes(api: Api): (router: ConnectRouter) => void {
  return (router) => {
    const serve = <S extends DescService>(service: S, functions: object, streams: object = {}) =>
      router.service(service, {
        ...handlers(api, functions),
        ...streamHandlers(api, streams),
      } as Partial<ServiceImpl<S>>);
    serve(LeaseService, leaseFunctions, { watchLeases });
    serve(TaskService, taskFunctions);
    serve(HistoryService, historyFunctions);
    serve(ProjectService, projectFunctions);
  };
}
