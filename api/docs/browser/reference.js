import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './reference.css';

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColors = () => document.documentElement.classList.toggle('dark-mode', dark.matches);

async function show(domNode) {
  const response = await fetch('/openapi.json');
  const spec = await response.json();
  // "Try it out" sends requests to the origin of this page, since its policy allows no other, whatever BASE_URL is.
  spec.servers = [{ url: location.origin }];
  SwaggerUI({ domNode, spec, deepLinking: true, validatorUrl: null });
}

followColors();
dark.addEventListener('change', followColors);
show(document.querySelector('#reference')).catch((error) => {
  document.querySelector('#failure').hidden = false;
  throw error;
});
