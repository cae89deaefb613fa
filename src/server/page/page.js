// SPDX-License-Identifier: MIT OR Apache-2.0
// The daemon's page: asks /status and /timeline.json twice a second and shows what they say. With an admin token, which is nowhere
// but in a variable, it also loads and gives up parameters and cancels jobs.
'use strict';
const PERIOD_MS = 500;
const $ = id => document.getElementById(id);
const PRIORITIES = {4: 'critical', 3: 'high', 2: 'normal', 1: 'low'};
let seconds = 60, isPaused = false, last = null, chosen = null, token = null;

// ---- small things

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
function bytes(n) {
  let u = 0;
  while (n >= 1024 && u < 4) { n /= 1024; u++; }
  return (u && n < 100 ? n.toFixed(1) : Math.round(n)) + ' ' + UNITS[u];
}
function time(s) {
  if (s < 1e-6) return '< 1 µs';
  if (s < 0.001) return (s * 1e6).toFixed(0) + ' µs';
  if (s < 1) return (s * 1e3).toFixed(s < 0.1 ? 1 : 0) + ' ms';
  if (s < 90) return s.toFixed(s < 10 ? 2 : 1) + ' s';
  if (s < 5400) return Math.round(s / 60) + ' min';
  return s < 172800 ? (s / 3600).toFixed(1) + ' h' : (s / 86400).toFixed(1) + ' d';
}
const share = (part, all) => all > 0 ? (100 * part / all).toFixed(part > 0 && part < 0.1 * all ? 1 : 0) + ' %' : '–';

function setText(node, text) { if (node.textContent !== text) node.textContent = text; }
function setAttr(node, name, value) { if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); }
function make(name, attrs, ...children) {
  const e = document.createElement(name);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  e.append(...children);
  return e;
}
// A body's rows, by key: what stays is kept, so that nothing is read out or loses its place anew.
// cells: texts, or functions that fill a cell.
function setRows(body, items, key, cells, numeric) {
  const old = new Map();
  for (const row of body.rows) old.set(row.dataset.key, row);
  items.forEach((item, i) => {
    const k = String(key(item, i));
    let row = old.get(k);
    old.delete(k);
    const values = cells(item);
    if (!row) {
      row = make('tr', {});
      row.dataset.key = k;
      values.forEach((v, c) => row.append(c === 0 ? make('th', {scope: 'row'}) : make('td', numeric.includes(c) ? {class: 'n'} : {})));
    }
    values.forEach((v, c) => typeof v === 'function' ? v(row.cells[c]) : setText(row.cells[c], v));
    if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] || null);
  });
  for (const row of old.values()) row.remove();
}
// A text behind a bar.
function bar(kind, value, max, text) {
  return cell => {
    let b = cell.querySelector(kind);
    if (!b) { b = make(kind, {'aria-hidden': 'true'}); cell.replaceChildren(b, ' ', make('span', {})); }
    setAttr(b, 'max', max > 0 ? max : 1);
    setAttr(b, 'value', value);
    setText(cell.lastChild, text);
  };
}

// A button in a cell; no text: none.
function act(text, label, ask) {
  return cell => {
    let b = cell.querySelector('button');
    if (!text || !token) { if (b) b.remove(); return; }
    if (!b) { b = make('button', {type: 'button'}); cell.append(b); }
    setText(b, text);
    setAttr(b, 'aria-label', label);
    b.onclick = ask;
  };
}

// ---- /status

function showState(s) {
  const states = [s.draining ? 'shutting down' : s.ready ? 'ready' : 'loading parameters'];
  if (s.journal.failed) states.push('the journal cannot be written');
  if (s.devices.some(d => d.out)) states.push('a device is out of use');
  setText($('state'), states.join('; '));
  $('state').className = states.length > 1 ? 'bad' : '';
  setText($('version'), s.version);
  $('admin').hidden = !s.admin;
  if (!s.admin && token) forget();
  const c = s.counters;
  setText($('summary'), `up ${time(s.uptime_secs)}; ${c.queue_depth} queued, ${c.total_completed} completed, ${c.total_failed} failed, ${c.retries} retries`);
}

function showQueue(s) {
  const count = {};
  for (const j of s.queued) (count[j.proof_kind] ||= {})[j.priority] = ((count[j.proof_kind] || {})[j.priority] || 0) + 1;
  setRows($('queue'), s.queues, q => q.proof_kind, q => {
    const n = count[q.proof_kind] || {};
    return [q.proof_kind, ...[4, 3, 2, 1].map(p => String(n[p] || 0)), String(q.in_progress),
      String(s.counters.completed_by_kind[q.proof_kind] || 0), String(s.counters.failed_by_kind[q.proof_kind] || 0)];
  }, [1, 2, 3, 4, 5, 6, 7]);
}

function showStages(s) {
  const m = s.memory, busy = s.gpu_workers.filter(w => w.state !== 'idle').length;
  const stages = [
    ['memory budget', bar('meter', m.used_bytes, m.total_bytes, bytes(m.used_bytes) + ', at most ' + bytes(m.peak_bytes)), bytes(m.total_bytes)],
    ['requests coming in', bar('meter', m.intake_used_bytes, m.intake_bytes, bytes(m.intake_used_bytes) + ', ' + s.intake.waiting + ' waiting'), bytes(m.intake_bytes)],
    ['witnesses being made', bar('meter', s.synthesis.active, s.synthesis.max_concurrent, String(s.synthesis.active)), String(s.synthesis.max_concurrent)],
    ['workers of devices', bar('meter', busy, s.gpu_workers.length, String(busy)), String(s.gpu_workers.length)],
    ['made, not yet finished', String(s.buffers.aux_in_flight), ''],
    ['proofs being finished', String(s.buffers.shells_in_flight), ''],
  ];
  setRows($('stages'), stages, x => x[0], x => x, []);
}

function showResidents(s) {
  setRows($('residents'), s.allocations.srs, r => r.circuit_id,
    r => [r.circuit_id, r.state, bytes(r.bytes), String(r.users), r.users ? 'in use' : time(r.last_used_secs_ago),
      act(r.state === 'ready' && 'Evict', 'Evict ' + r.circuit_id, () => evict(r.circuit_id))], [2, 3, 4]);
}

const LETTERS = {pending: '·', synthesizing: 'w', synth_done: 'r', gpu: 'd', done: '#', failed: '!'};
function showPartitions(j) {
  if (!j.partitions) return String(j.total_partitions);
  return cell => {
    bar('progress', j.partitions_done, j.total_partitions, `${j.partitions_done} of ${j.total_partitions}`)(cell);
    setAttr(cell, 'title', j.partitions.map(p => LETTERS[p.state]).join('') + '   w: witness, r: ready, d: on a device, #: done, !: failed');
  };
}

function showJobs(s) {
  const done = {completed: 1, failed: 1, cancelled: 1};
  const jobs = [...s.pipelines.filter(j => !done[j.state]), ...s.queued, ...s.pipelines.filter(j => done[j.state]).reverse()].slice(0, 100);
  setRows($('jobs'), jobs, j => j.job_id, j => [
    j.job_id, j.proof_kind, PRIORITIES[j.priority] || String(j.priority), j.state || 'queued', showPartitions(j), time(j.age_secs),
    cell => { setText(cell, j.error || (j.waits_for ? j.waits_for.text : '')); cell.className = j.error ? 'bad' : ''; },
    act(!done[j.state] && 'Cancel', 'Cancel job ' + j.job_id, () => cancel(j.job_id))], [5]);
  const more = s.pipelines_left_out + s.queued_left_out + s.pipelines.length + s.queued.length - jobs.length;
  setText($('morejobs'), jobs.length === 0 ? 'There are no jobs.' : more > 0 ? `and ${more} more` : '');
}

function showDevices(s, t) {
  const all = t ? t.end_ns - t.begin_ns : 0;
  setRows($('devices'), s.devices, d => d.id, d => {
    const use = t && t.devices.find(x => x.id === d.id);
    const mine = s.gpu_workers.filter(w => w.device === d.id), busy = mine.filter(w => w.state !== 'idle');
    const workers = use ? Math.max(use.workers.length, 1) : 1;
    const now = d.state !== 'used' ? `${d.state} for ${time(d.state_secs)}${d.reason ? ': ' + d.reason : ''}${d.retry_secs > 0 ? `; tried again in ${time(d.retry_secs)}` : ''}` : busy.length ? busy.map(w => `${w.current_job} #${w.current_partition}`).join(', ') : 'idle';
    return [d.id === d.name || !d.name ? d.id : d.id + ' (' + d.name + ')', use ? share(use.kernel_ns, all) : '–',
      use ? share(use.copy_up_ns, all) + ' / ' + share(use.copy_down_ns, all) : '–', use ? share(use.lane_ns, all) : '–',
      use ? share(use.worker_ns, all * workers) : '–', use ? String(use.units) : '–',
      d.memory_bytes ? `${bytes(d.reserved_bytes)} of ${bytes(d.memory_bytes)}` : 'the host’s', now,
      d.state === 'used' ? act('Drain', 'Drain device ' + d.id, () => drain(d.id)) : act(d.state !== 'opening' && 'Add', 'Add device ' + d.id, () => add(d.id))];
  }, [1, 2, 3, 4, 5]);
}

// ---- the timeline

const W = 1200, LEFT = 130, ROW = 24, GAP_ROW = 16;

// A gap that is cut at the window's beginning goes by its end, which stays.
const keyOf = (t, g) => g.begin_ns > t.begin_ns ? `${g.device}b${g.begin_ns}` : g.end_ns < t.end_ns ? `${g.device}e${g.end_ns}` : `${g.device}`;
const mainCause = g => Object.keys(g.cause_ns).reduce((a, b) => g.cause_ns[b] > g.cause_ns[a] ? b : a);
const svg = (name, attrs, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  return e;
};

// The slices' shares as one path.
function area(t, x, y, slices, of) {
  const h = ROW - 4;
  let d = `M${LEFT} ${y + h}`;
  slices.forEach((s, i) => {
    const from = i * t.slice_ns, to = Math.min(from + t.slice_ns, t.end_ns - t.begin_ns);
    d += `H${x(t.begin_ns + from).toFixed(1)}V${(y + h * (1 - Math.min(1, to > from ? of(s) / (to - from) : 0))).toFixed(1)}`;
  });
  return `${d}H${x(t.end_ns).toFixed(1)}V${y + h}Z`;
}

function drawDevice(root, t, x, y, device, index) {
  const workers = Math.max(1, device.workers.length);
  const rows = [['kernels', 'kernel', s => s.kernel_ns], ['copies', 'copy', s => s.copy_up_ns + s.copy_down_ns], ['lane', 'lane', s => s.lane_ns],
    ['workers', 'worker', s => s.worker_ns / workers]].filter(r => r[1] !== 'copy' || device.copies > 0);
  root.append(svg('text', {x: 0, y: y + 15, class: 'name'}, device.id));
  rows.forEach(([label, kind, of], i) => {
    root.append(svg('text', {x: LEFT - 8, y: y + 15, 'text-anchor': 'end'}, label), svg('path', {class: kind, d: area(t, x, y, device.slices, of)}),
      svg('path', {class: 'base', d: `M${LEFT} ${y + ROW - 4}H${W}`}));
    y += ROW;
    if (i === 0) {
      root.append(svg('text', {x: LEFT - 8, y: y + 11, 'text-anchor': 'end'}, 'gaps'));
      for (const g of t.gaps.filter(g => g.device === index)) {
        const cause = mainCause(g), key = keyOf(t, g);
        const r = svg('rect', {class: `gap c-${cause}${chosen && chosen.key === key ? ' on' : ''}`, x: x(g.begin_ns).toFixed(1), y: y,
          width: Math.max(1, x(g.end_ns) - x(g.begin_ns)).toFixed(1), height: GAP_ROW - 4});
        r.dataset.key = key;
        r.append(svg('title', {}, `${cause}: ${time((g.end_ns - g.begin_ns) / 1e9)}`));
        root.append(r);
      }
      y += GAP_ROW;
    }
  });
  return y + 8;
}

function drawGraph(t) {
  const x = ns => LEFT + (W - LEFT) * (ns - t.begin_ns) / Math.max(1, t.end_ns - t.begin_ns);
  const root = svg('svg', {role: 'img', 'aria-label': 'Utilisation of each device and its gaps; the list below has the gaps as text'});
  let y = 20;
  for (let i = 0; i <= 6; i++) {
    const ns = t.begin_ns + (t.end_ns - t.begin_ns) * i / 6, at = x(ns).toFixed(1);
    root.append(svg('path', {class: 'grid', d: `M${at} 16V9999`}),
      svg('text', {x: at, y: 11, 'text-anchor': i === 6 ? 'end' : 'middle'}, i === 6 ? 'now' : '−' + time((t.end_ns - ns) / 1e9)));
  }
  t.devices.forEach((d, i) => { y = drawDevice(root, t, x, y, d, i); });
  root.setAttribute('viewBox', `0 0 ${W} ${y}`);
  $('graph').replaceChildren(root);
}

function drawLegend(t) {
  const ns = {};
  for (const d of t.devices) for (const c in d.cause_ns) ns[c] = (ns[c] || 0) + d.cause_ns[c];
  const all = Object.values(ns).reduce((a, b) => a + b, 0);
  const there = Object.keys(ns).filter(c => ns[c] > 0);
  const text = there.map(c => `${c} ${share(ns[c], all)}`);
  if ($('legend').dataset.text === text.join()) return;
  $('legend').dataset.text = text.join();
  $('legend').replaceChildren(...there.map((c, i) => make('li', {title: t.causes[c]}, make('span', {class: 'key c-' + c, 'aria-hidden': 'true'}), text[i])));
}

function gapsOf(t) { return [...t.gaps].sort((a, b) => b.end_ns - a.end_ns || a.device - b.device); }

function showGaps(t) {
  const list = $('gaps'), old = new Map();
  for (const li of list.children) old.set(li.dataset.key, li);
  const gaps = gapsOf(t);
  gaps.forEach((g, i) => {
    const key = keyOf(t, g), cause = mainCause(g);
    let li = old.get(key);
    old.delete(key);
    if (!li) {
      li = make('li', {role: 'option', id: 'gap-' + key}, make('span', {class: 'when'}), make('span', {class: 'len'}),
        make('span', {}, make('span', {class: 'key', 'aria-hidden': 'true'}), make('span', {})));
      li.dataset.key = key;
    }
    setText(li.children[0], g.end_ns < t.end_ns ? time((t.end_ns - g.end_ns) / 1e9) + ' ago' : 'now');
    setText(li.children[1], time((g.end_ns - g.begin_ns) / 1e9));
    setAttr(li.children[2].firstChild, 'class', 'key c-' + cause);
    setText(li.children[2].lastChild, cause + (t.devices.length > 1 ? ', ' + t.devices[g.device].id : ''));
    setAttr(li, 'aria-selected', String(!!chosen && chosen.key === key));
    if (list.children[i] !== li) list.insertBefore(li, list.children[i] || null);
  });
  for (const li of old.values()) li.remove();
  $('nogaps').hidden = gaps.length > 0;
  setAttr(list, 'aria-activedescendant', chosen && $('gap-' + chosen.key) ? 'gap-' + chosen.key : '');
}

// The chosen gap as text. It stays there when it has gone from the timeline.
function showWhy(t, g) {
  const ns = g.end_ns - g.begin_ns, cause = mainCause(g);
  const at = new Date((t.wall_ns + (g.begin_ns - t.host_ns)) / 1e6);
  const clock = at.toLocaleTimeString([], {hour12: false}) + '.' + String(at.getMilliseconds()).padStart(3, '0');
  const causes = Object.keys(g.cause_ns).filter(c => g.cause_ns[c] > 0).sort((a, b) => g.cause_ns[b] - g.cause_ns[a]);
  const body = make('tbody', {}, ...causes.map(c => make('tr', {}, make('th', {scope: 'row'}, make('span', {class: 'key c-' + c, 'aria-hidden': 'true'}), c),
    make('td', {class: 'n'}, time(g.cause_ns[c] / 1e9)), make('td', {class: 'n'}, share(g.cause_ns[c], ns)), make('td', {}, t.causes[c]))));
  const text = make('p', {}, `${t.devices[g.device].id} ran no kernels for ${time(ns / 1e9)} from ${clock} on`
    + (g.end_ns >= t.end_ns ? ', until now' : '') + `: ${share(g.cause_ns[cause], ns)} of it because ${t.causes[cause]}.`);
  const parts = [text, make('table', {}, make('thead', {}, make('tr', {}, ...['cause', 'time', 'share', 'because']
    .map((h, i) => make('th', {scope: 'col', class: i === 1 || i === 2 ? 'n' : ''}, h)))), body)];
  if (g.lane_waited_for_ns > 0) parts.push(make('p', {}, `For ${time(g.lane_waited_for_ns / 1e9)} of it the lane was held while another worker waited for it.`));
  $('why').replaceChildren(...parts);
}

function choose(key) {
  const g = last && last.gaps.find(x => keyOf(last, x) === key);
  if (!g) return;
  chosen = {key};
  showWhy(last, g);
  drawGraph(last);
  showGaps(last);
  const li = $('gap-' + key);
  if (li) li.scrollIntoView({block: 'nearest'});
}

function onKey(event) {
  if (!last || last.gaps.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  const keys = gapsOf(last).map(g => keyOf(last, g));
  const at = chosen ? keys.indexOf(chosen.key) : -1;
  const to = {ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: keys.length - 1, Enter: at, ' ': at}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  choose(keys[Math.max(0, Math.min(keys.length - 1, to))]);
}

function showTimeline(t) {
  last = t;
  drawGraph(t);
  drawLegend(t);
  showGaps(t);
  chartTimeline(t);
}

// ---- administration

function tell(text, isBad) {
  $('told').className = isBad ? 'bad' : '';
  setText($('told'), text);
}

// What the daemon answers; null: it refused, which is told.
async function administer(action, fields) {
  let r, answer;
  try {
    r = await fetch(`/admin/${action}?${new URLSearchParams(fields)}`, {method: 'POST', cache: 'no-store', credentials: 'omit',
      headers: {Authorization: 'Bearer ' + token}});
    answer = await r.json();
  } catch (e) {
    tell(`${action}: the daemon does not answer: ${e.message}`, true);
    return null;
  }
  if (r.status === 401) forget();
  if (r.ok) return answer;
  tell(`${action}: ${answer.error}`, true);
  return null;
}

// Whether somebody says yes; by keyboard: No has the focus.
function isSure(question) {
  setText($('question'), question);
  $('sure').returnValue = 'no';
  $('sure').showModal();
  $('no').focus();
  return new Promise(r => $('sure').addEventListener('close', () => r($('sure').returnValue === 'yes'), {once: true}));
}

async function cancel(job) {
  if (!await isSure(`Cancel job ${job}? What was proved of it is lost.`)) return;
  if (await administer('cancel', {job})) tell(`Job ${job} is cancelled.`);
  $('told').focus(); // its button goes
}

async function evict(circuit) {
  if (!await isSure(`Evict ${circuit}? The next proof that needs it loads it again.`)) return;
  const a = await administer('evict', {circuit});
  if (a) tell(a.was_loaded ? `${circuit} is evicted (${bytes(a.freed_bytes)}), at the latest when its last proof has ended.` : `${circuit} was not loaded.`);
  $('told').focus();
}

async function preload(circuit) {
  tell(`Loading ${circuit} …`);
  const a = await administer('preload', {circuit});
  if (a) tell(a.already_loaded ? `${circuit} was loaded already.` : `${circuit} is loaded, after ${time(a.load_time_ms / 1000)}.`);
}

async function drain(device) {
  if (!await isSure(`Drain device ${device}? It gets no new partition until it is added.`)) return;
  if (await administer('drain', {device})) tell(`Device ${device} is drained once its partitions have ended.`);
  $('told').focus(); // its button is another one
}

async function add(device) {
  const a = await administer('add', {device});
  if (a) tell(a.was === 'used' ? `Device ${device} was used already.` : `Device ${device} is used again once it was opened and tested.`);
  $('told').focus();
}

async function register(name, zkey) {
  if (!await isSure(`Register ${zkey} as circuit ${name}?`)) return;
  tell(`Reading ${zkey} …`);
  const a = await administer('register', {name, zkey});
  if (a) tell(`Circuit ${name} ${a.already_registered ? 'was registered already' : 'is registered'}: ${a.constraints} constraints.`);
}

function forget() {
  token = null;
  $('login').hidden = false;
  $('actions').hidden = true;
  document.body.classList.remove('admin');
}

async function login() {
  token = $('token').value.trim();
  $('token').value = '';
  if (/[^\x21-\x7e]/.test(token)) { token = null; tell('A token has visible characters of ASCII only.', true); return; }
  const a = await administer('check', {});
  if (!a) { forget(); $('token').focus(); return; }
  tell('The token may administer.');
  $('login').hidden = true;
  $('actions').hidden = false;
  $('register').hidden = !a.circom;
  document.body.classList.add('admin');
  $('circuit').focus();
}

function onSubmit(id, action) { $(id).addEventListener('submit', e => { e.preventDefault(); action(); }); }

// ---- again and again

async function get(path) {
  const r = await fetch(path, {cache: 'no-store', signal: AbortSignal.timeout(10000)});
  if (!r.ok) throw new Error((await r.text()).trim() || r.status);
  return r.json();
}

async function lookStatus() {
  let s;
  try {
    s = await get('/status');
  } catch (e) {
    setText($('state'), 'the daemon does not answer: ' + e.message);
    $('state').className = 'bad';
    return;
  }
  if (isPaused) return;
  showState(s);
  showQueue(s);
  showStages(s);
  showResidents(s);
  showJobs(s);
  showDevices(s, last);
  chartStatus(s);
}

// By itself: on a machine whose processors are all proving it may be later.
async function lookTimeline() {
  let t;
  try {
    t = await get('/timeline.json?seconds=' + seconds);
  } catch (e) {
    last = null;
    setText($('graph'), 'no timeline: ' + e.message);
    return;
  }
  if (!isPaused) showTimeline(t);
}

async function run(look) {
  for (;;) {
    const begin = performance.now();
    if (!isPaused && !document.hidden) await look();
    await new Promise(r => setTimeout(r, Math.max(50, PERIOD_MS - (performance.now() - begin))));
  }
}

$('gaps').addEventListener('keydown', onKey);
for (const id of ['gaps', 'graph']) {
  $(id).addEventListener('click', e => { const at = e.target.closest('[data-key]'); if (at) choose(at.dataset.key); });
}
$('pause').addEventListener('click', () => {
  isPaused = !isPaused;
  setAttr($('pause'), 'aria-pressed', String(isPaused));
});
$('seconds').addEventListener('change', e => {
  seconds = Number(e.target.value);
  $('picture').href = '/timeline.svg?seconds=' + seconds;
  $('recording').href = '/recording?seconds=' + seconds;
});
onSubmit('login', login);
onSubmit('preload', () => preload($('circuit').value.trim()));
onSubmit('register', () => register($('name').value.trim(), $('zkey').value.trim()));
$('logout').addEventListener('click', () => { forget(); tell('The token is forgotten.'); $('token').focus(); });
startCharts();
run(lookStatus);
run(lookTimeline);
