// The sandbox's wallets for the payment page: announced like those of an extension, they approve every request and pay
// with test money. Signing happens in the sandbox process. Only `npm start` loads this script.
(() => {
  const SIGNER = new URL('/sandbox/wallets', document.currentScript.src).href;
  // A refund is paid by its merchant.
  const OWNER = /\/c\/re_/.test(location.pathname) ? 'merchant' : 'buyer';
  const CURRENT_CHAIN = 'sandbox-wallet-chain';

  const ask = async (method, params) => {
    const response = await fetch(SIGNER, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ owner: OWNER, method, params }),
    });
    const { result, error } = await response.json();
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return result;
  };

  const icon = (color) =>
    `data:image/svg+xml,${encodeURIComponent(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="${color}"/><path d="M7 12h18v12H7zM7 12l13-5v5M20 17h5v3h-5z" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round"/></svg>`,
    )}`;

  const chain = () => sessionStorage.getItem(CURRENT_CHAIN) ?? '0x14a34';
  const provider = {
    async request({ method, params = [] }) {
      if (method === 'eth_chainId') return chain();
      if (method === 'wallet_switchEthereumChain') {
        const { chainId } = params[0];
        await ask('knowsChain', [chainId]);
        sessionStorage.setItem(CURRENT_CHAIN, chainId);
        return null;
      }
      return await ask(method, method === 'eth_call' ? [chain(), params[0]] : params);
    },
    on() {},
    removeListener() {},
  };
  const info = Object.freeze({
    uuid: crypto.randomUUID(),
    name: 'Sandbox EVM wallet',
    icon: icon('#0a7d4f'),
    rdns: 'sandbox.evm',
  });
  const announce = () => {
    const detail = Object.freeze({ info, provider });
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  window.addEventListener('eip6963:requestProvider', announce);
  announce();

  const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes));
  const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const accounts = [];
  const wallet = {
    version: '1.0.0',
    name: 'Sandbox Solana wallet',
    icon: icon('#5b3fd6'),
    chains: ['solana:devnet'],
    accounts,
    features: {
      'standard:connect': {
        version: '1.0.0',
        async connect() {
          const address = await ask('solana:address', []);
          const features = ['solana:signTransaction'];
          accounts[0] = { address, publicKey: new Uint8Array(32), chains: wallet.chains, features };
          return { accounts };
        },
      },
      'standard:events': { version: '1.0.0', on: () => () => {} },
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signTransaction: (...inputs) =>
          Promise.all(
            inputs.map(async ({ transaction }) => ({
              signedTransaction: fromBase64(await ask('solana:sign', [toBase64(transaction)])),
            })),
          ),
      },
    },
  };
  const register = ({ register: add }) => add(wallet);
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
  window.addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail));
})();
