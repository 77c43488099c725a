/** Holdfast as an MCP server: agents lease, work and complete tasks with tools. */
export { type StdioOptions, serveOverStdio } from './stdio.js';
export { TOOLSET_NAMES, TOOLSETS, type Toolset, type ToolsetName } from './toolset.js';
