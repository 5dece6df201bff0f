// Runs in the page before other scripts: announces the wallets of __wallets, whose keys stay in the test. Each
// answers through __askWallet(key, method, params).
(() => {
  const listeners = new Map();
  const listen = (wallet, event, listener) => {
    const name = `${wallet.key} ${event}`;
    listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  };
  window.__emit = ([key, event, data]) => {
    for (const listener of listeners.get(`${key} ${event}`) ?? []) listener(data);
  };

  const announce = (wallet) => {
    const provider = {
      request: ({ method, params = [] }) => window.__askWallet(wallet.key, method, params).then(unwrap),
      on: (event, listener) => listen(wallet, event, listener),
      removeListener: () => {},
    };
    if (wallet.rdns === null) {
      window.ethereum = provider;
      return;
    }
    const { uuid, name, icon, rdns } = wallet;
    const detail = Object.freeze({ info: { uuid, name, icon, rdns }, provider });
    const send = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    window.addEventListener('eip6963:requestProvider', send);
    send();
  };

  // Errors lose their code between the processes, so they are passed as values.
  const unwrap = (answer) => {
    if (!answer.error) return answer.value;
    throw Object.assign(new Error(answer.error.message), answer.error);
  };

  const register = (wallet) => {
    const accountOf = (address) => ({
      address,
      publicKey: new Uint8Array(32),
      chains: wallet.chains,
      features: [],
    });
    const account = accountOf(wallet.address);
    const ask = (method, params) => window.__askWallet(wallet.key, method, params).then(unwrap);
    const standard = {
      version: '1.0.0',
      name: wallet.name,
      icon: wallet.icon,
      chains: wallet.chains,
      accounts: [],
      features: {
        'standard:connect': {
          version: '1.0.0',
          connect: async (input) =>
            (await ask('connect', [input ?? {}])) ? { accounts: [account] } : { accounts: [] },
        },
        'standard:events': {
          version: '1.0.0',
          on: (event, listener) =>
            listen(wallet, event, (addresses) => listener({ accounts: addresses.map(accountOf) })),
        },
        'solana:signTransaction': {
          version: '1.0.0',
          supportedTransactionVersions: ['legacy', 0],
          signTransaction: async (...inputs) =>
            await Promise.all(
              inputs.map(async ({ transaction, chain }) => {
                const encoded = btoa(String.fromCharCode(...transaction));
                const signed = await ask('signTransaction', [encoded, chain]);
                return { signedTransaction: Uint8Array.from(atob(signed), (c) => c.charCodeAt(0)) };
              }),
            ),
        },
      },
    };
    const callback = ({ register: add }) => add(standard);
    window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }));
    window.addEventListener('wallet-standard:app-ready', ({ detail }) => callback(detail));
  };

  for (const wallet of window.__wallets) wallet.family === 'evm' ? announce(wallet) : register(wallet);
})();
