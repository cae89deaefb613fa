// SPDX-License-Identifier: MIT OR Apache-2.0
// Lines over the last minutes, drawn by uPlot where the program was built with it: the utilisations of each device, from
// /timeline.json, and queue and memory from /status, of which the last minutes are kept here. What a line is at last, or where the
// pointer is, stands beside it as text.
'use strict';
const KEPT_S = 600, KEPT_POINTS = 1300, HOLE_S = 5, CALM_MS = 5000, HEIGHT = 140;
const charts = new Map(); // by key, each in $('plots')
const kept = {at: [], queued: [], running: [], used: [], budget: []};
const canDraw = () => typeof uPlot === 'function';
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const isCalm = matchMedia('(prefers-reduced-motion: reduce)');

const percent = v => (100 * v).toFixed(0) + ' %';
const UTILISATIONS = [
  {name: 'kernel-active', colour: '--kernel', width: 2, of: s => s.kernel_ns},
  {name: 'copy-active', colour: '--copy', dash: [6, 3], of: s => s.copy_up_ns + s.copy_down_ns},
  {name: 'lane-held', colour: '--lane', dash: [2, 2], of: s => s.lane_ns},
  {name: 'worker-busy', colour: '--worker', of: (s, workers) => s.worker_ns / workers},
];
const QUEUE = [{name: 'queued', colour: '--lane', width: 2}, {name: 'running', colour: '--kernel', dash: [6, 3]}];
const MEMORY = [{name: 'reserved', colour: '--kernel', width: 2}, {name: 'budget', colour: '--dim', dash: [6, 3]}];

function addPoint(now, values) {
  const last = kept.at.length ? kept.at[kept.at.length - 1] : now;
  const points = now - last > HOLE_S ? [[last + 1, null], [now, values]] : [[now, values]]; // paused or hidden: no line
  for (const [at, v] of points) {
    kept.at.push(at);
    for (const name of ['queued', 'running', 'used', 'budget']) kept[name].push(v && v[name]);
  }
  const old = kept.at.findIndex(at => at >= now - KEPT_S);
  const n = Math.max(old, kept.at.length - KEPT_POINTS);
  if (n > 0) for (const name in kept) kept[name].splice(0, n);
}

// The values at a place of the data, the last by default, as text.
function tellChart(chart) {
  const {data, lines, text} = chart, at = chart.plot.cursor.idx ?? data[0].length - 1;
  const values = lines.map((line, i) => data[i + 1][at] == null ? '–' : text(data[i + 1][at]));
  lines.forEach((line, i) => setText(chart.list.children[i].lastChild, values[i]));
  setText(chart.when, at < data[0].length - 1 ? time(-data[0][at]) + ' ago' : '');
  if (chart.plot.cursor.idx == null) setAttr(chart.box, 'aria-label', chart.title + ': ' + lines.map((line, i) => line.name + ' ' + values[i]).join(', ') + ' now');
}

function makeChart(key, title, lines, text, top) {
  const chart = {title, lines, text, data: [[], ...lines.map(() => [])], drawn: -CALM_MS, when: make('span', {class: 'dim'})};
  chart.list = make('ul', {class: 'lines'}, ...lines.map(line => make('li', {}, make('span', {class: 'key line' + line.colour, 'aria-hidden': 'true'}), line.name + ' ', make('span', {}))));
  chart.box = make('div', {class: 'plot', role: 'img'});
  chart.figure = make('figure', {}, make('figcaption', {}, title + ' ', chart.when), chart.box, chart.list);
  chart.figure.dataset.key = key;
  $('plots').insertBefore(chart.figure, lines === UTILISATIONS && charts.has('queue') ? charts.get('queue').figure : null);
  const axis = {stroke: () => colour('--dim'), font: '11px system-ui, sans-serif', grid: {stroke: () => colour('--line'), width: 1}, ticks: {show: false}};
  chart.plot = new uPlot({
    width: Math.max(200, chart.box.clientWidth), height: HEIGHT, legend: {show: false}, padding: [8, 12, 0, 0],
    cursor: {y: false, drag: {x: false, y: false}, points: {show: false}, sync: {key: 'charts'}},
    scales: {x: {time: false, range: () => [-seconds, 0]}, y: {range: (u, low, high) => [0, top(high || 0)]}},
    axes: [{...axis, size: 24, space: 70, values: (u, at) => at.map(v => v === 0 ? 'now' : '−' + (v > -90 ? -v + ' s' : time(-v)))},
      {...axis, size: 66, splits: u => [0, 0.5, 1].map(f => f * u.scales.y.max), values: (u, at) => at.map(text)}],
    series: [{}, ...lines.map(line => ({label: line.name, stroke: () => colour(line.colour), width: line.width || 1.5, dash: line.dash, points: {show: false}}))],
    hooks: {setCursor: [() => { if (chart.plot) tellChart(chart); }]},
  }, chart.data, chart.box);
  new ResizeObserver(() => chart.plot.setSize({width: Math.max(200, chart.box.clientWidth), height: HEIGHT})).observe(chart.box);
  charts.set(key, chart);
  return chart;
}

function draw(key, title, lines, text, top, data) {
  const chart = charts.get(key) || makeChart(key, title, lines, text, top);
  chart.data = data;
  const now = performance.now();
  if (!isCalm.matches || now - chart.drawn >= CALM_MS) { // who wants less motion gets a still picture for a while
    chart.drawn = now;
    chart.plot.setData(data);
  }
  tellChart(chart);
}

function chartStatus(s) {
  if (!canDraw()) return;
  const now = performance.now() / 1000;
  addPoint(now, {queued: s.counters.queue_depth, running: s.queues.reduce((n, q) => n + q.in_progress, 0), used: s.memory.used_bytes, budget: s.memory.total_bytes});
  const at = kept.at.map(x => x - now);
  draw('queue', 'Jobs', QUEUE, String, high => Math.max(2, 2 * Math.ceil(high / 2)), [at, kept.queued, kept.running]);
  draw('memory', 'Memory', MEMORY, bytes, high => high || 1, [at, kept.used, kept.budget]);
}

function chartTimeline(t) {
  if (!canDraw()) return;
  for (const d of t.devices) {
    const all = t.end_ns - t.begin_ns, workers = Math.max(1, d.workers.length);
    const ends = d.slices.map((s, i) => [i * t.slice_ns, Math.min((i + 1) * t.slice_ns, all)]);
    const values = UTILISATIONS.map(line => d.slices.map((s, i) => ends[i][1] > ends[i][0] ? Math.min(1, line.of(s, workers) / (ends[i][1] - ends[i][0])) : null));
    draw('device ' + d.id, d.id, UTILISATIONS, percent, () => 1, [ends.map(([from, to]) => ((from + to) / 2 - all) / 1e9), ...values]);
  }
  for (const [key, chart] of charts) {
    if (key.startsWith('device ') && !t.devices.some(d => 'device ' + d.id === key)) {
      chart.plot.destroy();
      chart.figure.remove();
      charts.delete(key);
    }
  }
}

function startCharts() {
  $('charts').hidden = !canDraw();
  $('nocharts').hidden = canDraw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => charts.forEach(chart => chart.plot.redraw(false)));
}
