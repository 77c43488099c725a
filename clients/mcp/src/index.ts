/** Holdfast as an MCP server: agents lease, work and complete tasks with tools. */
export { createHttpEndpoint, type HttpEndpoint, type HttpOptions } from './http.js';
export { type StdioOptions, serveOverStdio } from './stdio.js';
export { TOOLSET_NAMES, type ToolsetName } from './toolset-names.js';
export { TOOLSETS } from './toolsets.js';
