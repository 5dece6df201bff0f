import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { runJson } from './cli.js';
import { useCliDatabase } from './cli-database.js';
import { forAllTests } from './hooks.js';
import { createMigratedDatabase } from './suite.js';

/** A shop's database, and a proxy before it that operators' commands may be led through. */
interface ProxiedShop {
  url: string;
  proxy: TcpProxy;
  account: string;
}

/** Points the operator's commands to the database itself, for the rest of the file. */
export function useProxiedShop(name: string): ProxiedShop {
  const shop = forAllTests(async () => {
    const url = await createMigratedDatabase(name);
    const proxy = await TcpProxy.start(url);
    return { url, proxy, account: '', close: () => proxy.refuse() };
  });
  useCliDatabase(() => shop.url);
  before(async () => {
    shop.account = (await runJson('create', '--name', 'Shop')).account.id;
  });
  return shop;
}
