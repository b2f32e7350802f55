// node chdb_front.mjs CHDB-MODULE DATA-DIRECTORY PORT
//
// As much of ClickHouse's HTTP interface as pprofd uses, over the engine that
// npm's chdb brings as a library: queries in the body, inserts in RowBinary,
// a database in the URL, errors with ClickHouse's own words and codes.

import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {mkdirSync, unlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [module, directory, port] = process.argv.slice(2);
const {Session} = createRequire(import.meta.url)(module);
mkdirSync(directory, {recursive: true});
const session = new Session(directory);
const inserts = join(directory, 'user_files');
mkdirSync(inserts, {recursive: true});
let number = 0;
const structures = new Map();

// One after another: a session keeps the database that was chosen last.
let last = Promise.resolve();
function inTurn(work) {
  const next = last.then(work);
  last = next.catch(() => {});
  return next;
}

async function ask(sql, format) {
  const result = await session.queryAsync(sql, {format});
  return Buffer.from(result.bytes());
}

const quote = (name) => '`' + name.replaceAll('`', '') + '`';

// file() has to be told the types of the columns.
async function structureOf(database, table, columns) {
  const key = database + '.' + table;
  if (!structures.has(key)) {
    const text = await ask(`DESCRIBE TABLE ${table}`, 'TabSeparated');
    structures.set(key, new Map(text.toString().trim().split('\n').map(
      (line) => line.split('\t').slice(0, 2))));
  }
  const types = structures.get(key);
  return columns.map((name) => `${name} ${types.get(name)}`).join(', ');
}

async function insert(database, sql, body) {
  const [, table, list] =
    /^INSERT INTO (\w+) \(([^)]*)\) FORMAT RowBinary$/.exec(sql);
  const columns = list.split(',').map((name) => name.trim());
  const structure = await structureOf(database, table, columns);
  const path = join(inserts, `insert-${number++}`);
  writeFileSync(path, body);
  try {
    await ask(`INSERT INTO ${table} (${list}) SELECT ${list} FROM ` +
      `file('${path}', 'RowBinary', '${structure.replaceAll("'", "\\'")}')`,
      'Null');
  } finally {
    unlinkSync(path);
  }
  return Buffer.alloc(0);
}

// Settings stay until they change.
const settings = new Map();
async function applySettings(parameters) {
  for (const name of ['max_query_size', 'max_memory_usage',
    'max_execution_time']) {
    const value = Number(parameters.get(name) ?? settings.get(name) ?? 0);
    if (parameters.has(name) && settings.get(name) !== value) {
      await ask(`SET ${name} = ${value}`, 'Null');
      settings.set(name, value);
    }
  }
}

async function answer(parameters, body) {
  await applySettings(parameters);
  const database = parameters.get('database');
  if (database) await ask(`USE ${quote(database)}`, 'Null');
  if (parameters.has('query'))
    return insert(database, parameters.get('query'), body);
  const sql = body.toString();
  const format = /\bFORMAT (\w+)\s*$/.exec(sql);
  return ask(format ? sql.slice(0, format.index) : sql,
    format ? format[1] : 'TabSeparated');
}

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const url = new URL(request.url, 'http://localhost');
  try {
    const reply = await inTurn(
      () => answer(url.searchParams, Buffer.concat(parts)));
    response.writeHead(200, {'Content-Length': reply.length});
    response.end(reply);
  } catch (error) {
    const words = String(error.message ?? error);
    const start = words.indexOf('Code: ');
    response.writeHead(500);
    response.end(start >= 0 ? words.slice(start) : words);
  }
}).listen(Number(port), '127.0.0.1');
