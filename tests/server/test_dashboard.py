# SPDX-License-Identifier: MIT OR Apache-2.0
"""The daemon's page in a real browser: why was the device idle? By keyboard alone, light and dark."""
import os, subprocess, time

import daemon
from browser import Browser
from daemon import harness, Daemon, CANCELLED, COMPLETED, FAILED, SOON
from test_serve_admin import administered, ADMIN
from test_serve_dashboard import latest


def work(d):
    """A gap with a known cause, an error, and a job that is held with another behind it."""
    assert d.prove(d.null("units=8 prove_us=15000 lane_us=15000", "steady")).status == COMPLETED
    assert d.prove(d.null("units=1 witness_us=700000", "late-witness")).status == COMPLETED
    assert d.prove(d.null("units=1 fail=witness", "broken")).status == FAILED
    held = d.c.start("Prove", submit=d.null("units=5 gate=open@2", "held"))
    latest(d, "a unit at its gate", lambda j: j["jobs_ended"] == 3 and j["units_done"] == 11
           and any(w["current_job"] == "held" for w in d.status()["gpu_workers"]))
    return held


def test_why_was_it_idle(cuzk):
    """The walk of somebody who does not know the page: the list of gaps, the one that was long, its cause in words."""
    d = Daemon(cuzk, test=True, name="page", config={"gpus.gpu_workers_per_device": 1, "srs.preload": ["null-a"],
                                                     "pipeline.max_parallel_synthesis": 1})
    with d, Browser() as b:
        held = work(d)
        b.scheme("light")
        b.open("http://127.0.0.1:%d/" % d.http_port)
        b.wait("the gaps", "return document.querySelectorAll('#gaps li').length > 2")
        # by keyboard: the skip link leads to the list
        b.press("Tab", "Enter")
        assert b.js("return document.activeElement.id") == "gaps", b.js("return document.activeElement.outerHTML")
        n = b.js("return document.querySelectorAll('#gaps li').length")
        for i in range(n + 5):
            b.press("ArrowDown")
            text = b.wait("a gap to be chosen", "const li = document.querySelector('#gaps li[aria-selected=true]');"
                          "return li && document.getElementById('gaps').getAttribute('aria-activedescendant') === li.id && li.innerText")
            if "witness" in text:
                break
        why = b.js("return document.getElementById('why').innerText")
        assert "a witness was being made" in why and "ran no kernels for" in why, (text, why)
        assert b.js("return document.getElementById('why').getAttribute('aria-live')") == "polite"
        # it is the longest of its cause, and stays chosen while time goes on
        chosen = b.js("return document.querySelector('#gaps li[aria-selected=true]').id")
        first = b.js("return document.querySelector('#gaps li .when').textContent")
        b.wait("the next looks", "return document.querySelector('#gaps li:nth-child(2) .when').textContent !== arguments[0]",
               b.js("return document.querySelector('#gaps li:nth-child(2) .when').textContent"))
        assert b.js("return document.querySelector('#gaps li[aria-selected=true]').id") == chosen, first
        assert b.js("return document.querySelector('rect.gap.on').dataset.key") == chosen[len("gap-"):]
        assert b.js("return document.activeElement.id") == "gaps"
        # jobs: progress, error, what it is at
        jobs = b.js("return document.getElementById('jobs').innerText")
        assert "held" in jobs and "2 of 5" in jobs and "broken" in jobs and "null-work" not in jobs, jobs
        row = b.js("return [...document.querySelectorAll('#jobs tr')].find(r => r.cells[0].textContent === 'broken').innerText")
        assert "failed" in row, row
        devices = b.js("return document.getElementById('devices').innerText")
        assert "cpu" in devices and "held #" in devices and "%" in devices, devices
        assert "null-a" in b.js("return document.getElementById('residents').innerText")
        assert b.js("return document.getElementById('state').textContent") == "ready"
        b.js("scrollTo(0, 0)")
        b.screenshot(os.path.join(cuzk.build, "dashboard-light.png"))
        b.scheme("dark")
        light = b.js("return getComputedStyle(document.body).backgroundColor")
        assert light == "rgb(20, 22, 26)", light
        b.screenshot(os.path.join(cuzk.build, "dashboard-dark.png"))
        # a click does the same
        other = b.js("const r = [...document.querySelectorAll('rect.gap')].find(r => !r.classList.contains('on'));"
                     "r.dispatchEvent(new MouseEvent('click', {bubbles: true})); return r.dataset.key")
        assert b.js("return document.querySelector('#gaps li[aria-selected=true]').id") == "gap-" + other
        assert [e for e in b.console() if e["level"] in ("SEVERE", "WARNING")] == []
        d.open_gate("open")
        assert held.result().result.status == COMPLETED
        b.wait("the job's end", "return document.getElementById('jobs').innerText.includes('5 of 5')")
        # no answer is said, and then it goes on
        d.process.terminate()
        d.wait_end()
        d.process = None
        b.wait("the loss", "return document.getElementById('state').textContent.includes('does not answer')")


def test_administration(cuzk):
    """By keyboard alone: the token, a circuit that is loaded and evicted, a job that is cancelled, and what is refused."""
    with Daemon(cuzk, test=True, name="read-only") as d, Browser() as b:
        b.open("http://127.0.0.1:%d/" % d.http_port)
        b.wait("a look", "return document.getElementById('state').textContent === 'ready'")
        assert b.js("return document.getElementById('admin').hidden && !document.body.innerText.includes('token')")
    with administered(cuzk) as d, Browser() as b:
        b.open("http://127.0.0.1:%d/" % d.http_port)
        held = d.c.start("Prove", submit=d.null("units=2 gate=open", "held"))
        b.wait("the job", "return document.getElementById('jobs').innerText.includes('held') && !document.getElementById('admin').hidden")
        assert b.js("return document.querySelector('#jobs button, #devices button')") is None
        b.press("Tab")
        b.tab_to("the token", "e.id === 'token'")
        b.type("wrong-token-012345678")
        b.press("Enter")
        b.wait("a refusal", "return document.getElementById('told').textContent.includes('not a known one')")
        assert b.js("const t = document.getElementById('told'); return t.className === 'bad' && t.getAttribute('role') === 'status'"
                    " && document.activeElement.id === 'token' && !document.getElementById('token').value")
        b.type(ADMIN)
        b.press("Enter")
        b.wait("the token to be taken", "return document.getElementById('told').textContent === 'The token may administer.'")
        assert b.js("return document.activeElement.id === 'circuit' && document.getElementById('token').value === ''"
                    " && localStorage.length + sessionStorage.length === 0 && document.cookie === ''")
        b.type("null-x")
        b.press("Enter")
        b.wait("a refusal", "return document.getElementById('told').textContent.includes('no circuit \"null-x\"')")
        b.js("document.getElementById('circuit').select()")
        b.type("null-b")
        b.press("Enter")
        b.wait("the circuit", "return document.getElementById('told').textContent.includes('null-b is loaded')"
               " && document.getElementById('residents').innerText.includes('null-b')")
        # No has the focus, and Escape says no, too
        for keys, is_asked_again in ((["Enter"], True), (["Escape"], True), (["Tab", "Enter"], False)):
            b.js("document.querySelector('#pause').focus()")
            b.tab_to("the job's button", "e.getAttribute('aria-label') === 'Cancel job held'")
            b.press("Space")
            b.wait("the question", "return document.getElementById('sure').open && document.activeElement.id === 'no'"
                   " && document.getElementById('question').textContent.startsWith('Cancel job held?')")
            b.press(*keys)
            b.wait("the dialog to close", "return !document.getElementById('sure').open")
            assert not is_asked_again or not held.done()
        assert held.result().result.status == CANCELLED
        b.wait("it to be told", "return document.getElementById('told').textContent === 'Job held is cancelled.'"
               " && document.activeElement.id === 'told' && !document.querySelector('#jobs button')")
        b.js("document.querySelector('#pause').focus()")
        b.tab_to("the circuit's button", "e.getAttribute('aria-label') === 'Evict null-b'")
        b.screenshot(os.path.join(cuzk.build, "dashboard-admin.png"))
        b.press("Enter")
        b.wait("the question", "return document.getElementById('sure').open")
        b.press("Tab", "Enter")
        b.wait("it to go", "return document.getElementById('told').textContent.includes('null-b is evicted')"
               " && !document.getElementById('residents').innerText.includes('null-b')")
        b.js("document.querySelector('#pause').focus()")
        b.tab_to("the device's button", "e.getAttribute('aria-label') === 'Drain device cpu'")
        b.press("Enter")
        b.wait("the question", "return document.getElementById('sure').open && document.getElementById('question').textContent.startsWith('Drain device cpu?')")
        b.press("Tab", "Enter")
        b.wait("it to be told", "return document.getElementById('told').textContent.startsWith('Device cpu is drained') && document.activeElement.id === 'told'"
               " && document.getElementById('devices').innerText.includes('drained for')")
        assert d.status()["devices"][0]["state"] == "drained"
        b.js("document.querySelector('#pause').focus()")
        b.tab_to("the device's button", "e.getAttribute('aria-label') === 'Add device cpu'")
        b.press("Enter")
        b.wait("it to be used", "return document.getElementById('told').textContent === 'Device cpu is used again once it was opened and tested.'"
               " && document.querySelector('#devices button').textContent === 'Drain'")
        assert d.status()["devices"][0]["state"] == "used"
        b.js("document.querySelector('#pause').focus()")
        b.tab_to("the end of it", "e.id === 'logout'")
        b.press("Enter")
        assert b.js("return document.getElementById('actions').hidden && !document.body.classList.contains('admin')")
        # a page that is loaded again knows nothing
        b.type(ADMIN)
        b.press("Enter")
        b.wait("the token to be taken", "return document.body.classList.contains('admin')")
        b.open("http://127.0.0.1:%d/" % d.http_port)
        b.wait("a look", "return !document.getElementById('admin').hidden")
        assert b.js("return !document.body.classList.contains('admin') && document.getElementById('actions').hidden")
        # what was refused is in the console as the failed requests that they were, and nothing else is
        bad = [e["message"] for e in b.console() if e["level"] in ("SEVERE", "WARNING")]
        assert all("/admin/" in m for m in bad), bad


# pixels of a chart's canvas that have a colour of the page
COLOURED = """
const [key, name] = arguments, c = document.querySelector(`figure[data-key="${key}"] canvas`);
if (!c || !c.width) return 0;
const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const want = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)), p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
let n = 0;
for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 200 && want.every((w, k) => Math.abs(p[i + k] - w) < 24)) n++;
return n;"""


def test_charts(cuzk):
    """Lines of utilisations, jobs and memory, as text beside them; without the library the page does without."""
    d = Daemon(cuzk, test=True, name="charts", config={"gpus.gpu_workers_per_device": 1, "pipeline.max_parallel_synthesis": 1})
    with d, Browser() as b:
        has = d.status()["charts"]
        held = work(d)
        b.scheme("light")
        b.open("http://127.0.0.1:%d/" % d.http_port)
        b.wait("a look", "return document.querySelectorAll('#gaps li').length > 2")
        assert b.js("return document.getElementById('charts').hidden === arguments[0] && document.getElementById('nocharts').hidden !== arguments[0]", not has)
        if has:
            keys = b.wait("the charts", "const k = [...document.querySelectorAll('figure')].map(f => f.dataset.key); return k.length === 3 && k")
            assert keys == ["device cpu", "queue", "memory"], keys
            for scheme in ("light", "dark"):
                b.scheme(scheme)
                for key, colour in (("device cpu", "--kernel"), ("device cpu", "--worker"), ("queue", "--kernel"), ("memory", "--kernel")):
                    b.wait("a line of %s in %s" % (key, colour), COLOURED.replace("return n;", "return n > 20;"), key, colour)
                b.js("document.getElementById('charts').scrollIntoView()")
                b.screenshot(os.path.join(cuzk.build, "dashboard-charts-%s.png" % scheme))
            b.wait("points of ten looks", "return charts.get('queue').data[0].length > 10")
            label = b.js("return document.querySelector('figure[data-key=\"queue\"] [role=img]').getAttribute('aria-label')")
            assert label == "Jobs: queued 0, running 1 now", label
            for key, names in (("device cpu", ["kernel-active", "copy-active", "lane-held", "worker-busy"]), ("memory", ["reserved", "budget"])):
                text = b.js("return [...document.querySelectorAll(`figure[data-key='${arguments[0]}'] li`)].map(l => l.innerText)", key)
                assert [t.rsplit(" ", 2)[0] for t in text] == names and all(c.isdigit() for c in [t.split()[1][0] for t in text]), text
            # what the pointer is at is told; the last again when it leaves
            # who wants less motion gets it
            b.reduced_motion()
            b.js("window.drawn = charts.get('queue').drawn")
            rest = b.wait("the next drawing", "return charts.get('queue').drawn - drawn")
            b.js("window.drawn += arguments[0]", rest)
            rest = b.wait("the one after it", "return charts.get('queue').drawn - drawn")
            assert rest >= 5000, rest
            b.js("document.getElementById('pause').click()")
            told = b.js("const c = charts.get('memory'), tell = () => c.when.textContent; c.plot.setCursor({left: 5, top: 5});"
                        "const there = tell(); c.plot.setCursor({left: -10, top: -10}); return [there, tell()]")
            assert told[0].endswith(" ago") and told[1] == "", told
            # no more points than there is room for, and none over a pause
            n, room, hole = b.js("for (let i = 0; i < 3000; i++) addPoint(1e6 + i / 3, {queued: 1, running: 1, used: 1, budget: 1});"
                                 "addPoint(1e6 + 1100, {queued: 2, running: 1, used: 1, budget: 1});"
                                 "return [kept.at.length, KEPT_POINTS, kept.queued.slice(-2)]")
            assert n <= room and hole == [None, 2] and b.js("return Object.values(kept).every(a => a.length === kept.at.length)"), (n, hole)
        bad = [e["message"] for e in b.console() if e["level"] in ("SEVERE", "WARNING") and "willReadFrequently" not in e["message"]]  # by COLOURED
        assert bad == [], bad
        # the same page without the library
        b.block("*/uPlot.js")
        b.open("http://127.0.0.1:%d/" % d.http_port)
        b.wait("the gaps", "return document.querySelectorAll('#gaps li').length > 2 && document.getElementById('jobs').innerText.includes('held')")
        assert b.js("return document.getElementById('charts').hidden && !document.getElementById('nocharts').hidden && !document.querySelector('figure')")
        bad = [e["message"] for e in b.console() if e["level"] in ("SEVERE", "WARNING")]
        assert all("uPlot.js" in m for m in bad), bad
        d.open_gate("open")
        assert held.result().result.status == COMPLETED


MEASURE = """
window.tasks = []; window.frames = [];
new PerformanceObserver(l => l.getEntries().forEach(e => tasks.push(e.duration))).observe({type: 'longtask'});
let last = performance.now();
(function frame(now) { frames.push(now - last); last = now; requestAnimationFrame(frame); })(last);
performance.clearResourceTimings();
return true;"""


def test_ten_thousand_jobs(cuzk):
    """With 10,000 jobs behind it and others coming the page is drawn anew twice a second and never stutters."""
    load = os.path.join(cuzk.build, "tests", "server", "rpc_load")
    if not daemon.NIGHTLY or not os.path.exists(load):
        raise harness.Skip("nightly, with rpc_load built")
    seconds = 5
    d = Daemon(cuzk, test=True, name="many", config={"gpus.gpu_workers_per_device": 2, "journal.path": "none"})
    with d, Browser() as b:
        subprocess.run([load, "unix://" + d.socket, "prove", "10000", "64"], check=True, stdout=subprocess.DEVNULL)
        more = subprocess.Popen([load, "unix://" + d.socket, "prove", "1000000", "8", "units=3 prove_us=3000 lane_us=3000 verify_us=1000"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            b.open("http://127.0.0.1:%d/" % d.http_port)
            b.wait("jobs and gaps", "return document.querySelectorAll('#jobs tr').length > 3 && document.querySelectorAll('#gaps li').length > 2")
            assert b.js(MEASURE)
            for _ in range(5):  # what else runs on the machine makes tasks longer: the quietest time counts
                b.js("tasks.length = frames.length = 0; performance.clearResourceTimings()")
                time.sleep(seconds)
                tasks, frames = b.js("return [tasks, frames]")
                looks = b.js("return performance.getEntriesByType('resource').filter(r => r.name.includes('timeline.json')).length")
                print("  %d looks in %d s; %d tasks over 50 ms, the longest %.0f ms, in all %.0f ms; longest time without a frame %.0f ms" % (
                    looks, seconds, len(tasks), max(tasks or [0]), sum(tasks), max(frames)))
                quiet = max(tasks or [0]) < 100 and sum(tasks) < 0.05 * 1000 * seconds and looks >= 1.5 * seconds
                if quiet:
                    break
        finally:
            more.kill()
            more.wait()
        assert d.status()["counters"]["total_completed"] > 10000
        assert quiet, (looks, tasks)
        assert [e for e in b.console() if e["level"] in ("SEVERE", "WARNING")] == []


if __name__ == "__main__":
    harness.main(globals())
