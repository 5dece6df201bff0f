import net from 'node:net';

/**
 * Each service process loads this module first, and reaches the facilitator through a proxy of its own; all know it by one
 * address, because a payment's row names its facilitator by it.
 */
const [port, proxyPort] = (process.env.CHAOS_FACILITATOR_PORTS ?? '').split(':').map(Number);

if (proxyPort !== undefined) {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    // net.connect passes its arguments as one array.
    const [options] = Array.isArray(args[0]) ? args[0] : args;
    if (Number(options?.port) === port) options.port = proxyPort;
    return connect.apply(this, args);
  };
}
