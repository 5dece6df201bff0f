import { EVENT_TOOLS } from './event-tools.js';
import type { MerchantTool } from './merchant-tool.js';
import { MONEY_TOOLS } from './money-tools.js';

export const MERCHANT_TOOLS: readonly MerchantTool[] = [...MONEY_TOOLS, ...EVENT_TOOLS];
