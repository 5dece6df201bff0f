import assert from 'node:assert/strict';
import express from 'express';
import request from 'supertest';
import { createHttpServer } from '../../../api/process/http-server.js';

describe('requests and answers', () => {
  it('have the prototypes that Express would give them', async () => {
    const app = express();
    app.get('/', (req, res) => void res.json({ app: req.app === app && res.app === app }));
    const server = createHttpServer(app);
    const found: boolean[] = [];
    server.prependListener('request', (req, res) => {
      found.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
    });
    await request(server).get('/').expect(200, { app: true });
    assert.deepEqual(found, [true, true]);
  });
});
