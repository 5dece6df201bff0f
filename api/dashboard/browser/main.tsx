import { render } from 'preact';
import { App } from './app.js';
import { takeKeyFromFragment } from './state/key.js';

takeKeyFromFragment();
const root = document.getElementById('dashboard');
if (root !== null) render(<App />, root);
