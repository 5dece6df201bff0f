import { render } from 'preact';
import { App } from './app.js';
import { takeKeyFromFragment } from './state/key.js';

takeKeyFromFragment();
addEventListener('hashchange', () => {
  if (takeKeyFromFragment()) location.reload();
});
const root = document.getElementById('dashboard');
if (root !== null) render(<App />, root);
