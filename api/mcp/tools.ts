import { MERCHANT_ROUTES } from '../openapi/merchant-paths.js';
import { EVENT_TOOLS } from './event-tools.js';
import type { DescribedTool, MerchantTool } from './merchant-tool.js';
import { MONEY_TOOLS } from './money-tools.js';

export const MERCHANT_TOOLS: readonly MerchantTool[] = [...MONEY_TOOLS, ...EVENT_TOOLS].map(merchantTool);

function merchantTool(tool: DescribedTool): MerchantTool {
  const route = MERCHANT_ROUTES.find(({ operation }) => operation.id === tool.operation);
  if (route === undefined) throw new Error(`the API document has no operation ${tool.operation}`);
  const { method, path, operation } = route;
  return {
    ...tool,
    method,
    path: path.slice('/v1'.length),
    id: operation.pathId,
    parameters: operation.query ?? operation.body,
  };
}
