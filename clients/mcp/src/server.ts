import { McpServer } from '@modelcontextprotocol/server';
import type { Bridge } from './bridge.js';
import { callTool } from './call-tool.js';
import { instructions } from './instructions.js';
import { registerPrompts } from './prompts.js';
import { registerResources } from './resources.js';
import { advertised } from './schema.js';

const unchanging = { listChanged: false };

/** Makes the MCP server of a bridge, for one connection or one request. */
export function createMcpServer(bridge: Bridge): McpServer {
  const { tools, names } = bridge.toolset;
  const server = new McpServer(
    { name: 'holdfast', title: 'Holdfast', version: '0.1.0' },
    {
      instructions: instructions(names),
      capabilities: { tools: unchanging, resources: unchanging, prompts: unchanging },
    },
  );
  for (const tool of tools) {
    const { name, title, description, input, output, hints } = tool;
    const config = {
      title,
      description,
      inputSchema: advertised(input),
      outputSchema: advertised(output),
      annotations: {
        readOnlyHint: hints.readOnly ?? false,
        destructiveHint: hints.destructive ?? false,
        idempotentHint: hints.idempotent ?? false,
        openWorldHint: false,
      },
    };
    server.registerTool(name, config, (args, context) => callTool(bridge, tool, args, context));
  }
  registerResources(server, bridge);
  registerPrompts(server, names);
  return server;
}
