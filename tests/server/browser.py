# SPDX-License-Identifier: MIT OR Apache-2.0
"""A real Chromium, driven through chromedriver (WebDriver over HTTP), without a network but the loopback."""
import base64, json, re, shutil, subprocess, time, urllib.error, urllib.request

from harness import SLOW, Skip

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "ArrowDown": "\ue015", "ArrowUp": "\ue013", "Home": "\ue011", "End": "\ue010", "Escape": "\ue00c", "Space": " "}


class Browser:
    def __init__(self, width=1400, height=1600):
        driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
        if not driver or not chromium:
            raise Skip("Debian's chromium and chromium-driver are not installed")
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            for line in self.process.stdout:
                found = re.search(r"started successfully on port (\d+)", line)
                if found:
                    break
            else:
                raise AssertionError("chromedriver ended")
            self.url = "http://127.0.0.1:%s" % found.group(1)
            options = {"binary": chromium, "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--no-proxy-server",
                "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=%d,%d" % (width, height)]}
            session = self.post("/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.url += "/session/" + session["sessionId"]
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def post(self, path, fields, method="POST"):
        data = json.dumps(fields).encode() if method == "POST" else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60 * SLOW) as r:
                return json.loads(r.read())["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError("%s %s: %s" % (path, fields, e.read().decode()[:1000]))

    def open(self, url):
        self.post("/url", {"url": url})

    def js(self, script, *args):
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def press(self, *keys):
        actions = []
        for k in keys:
            actions += [{"type": "keyDown", "value": KEYS.get(k, k)}, {"type": "keyUp", "value": KEYS.get(k, k)}]
        self.post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        self.press(*text)

    def tab_to(self, what, script, limit=200):
        """Press Tab until the element that has the focus fits: document.activeElement is `e` of the script."""
        for _ in range(limit):
            if self.js("const e = document.activeElement; return " + script):
                return
            self.press("Tab")
        raise AssertionError("Tab does not lead to %s: %s" % (what, self.js("return document.body.innerText")))

    def wait(self, what, script, *args, limit=60):
        """Until a script returns something true."""
        deadline = time.monotonic() + limit * SLOW
        while True:
            value = self.js(script, *args)
            if value:
                return value
            assert time.monotonic() < deadline, "waited %g s for: %s\n%s" % (limit, what, self.js("return document.body.innerText"))
            time.sleep(0.02)

    def scheme(self, name):
        """prefers-color-scheme: "light" or "dark"."""
        self.post("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia",
                                        "params": {"features": [{"name": "prefers-color-scheme", "value": name}]}})

    def reduced_motion(self):
        self.post("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia",
                                        "params": {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}})

    def block(self, pattern):
        """Requests whose address is like that fail from now on."""
        self.post("/goog/cdp/execute", {"cmd": "Network.enable", "params": {}})
        self.post("/goog/cdp/execute", {"cmd": "Network.setBlockedURLs", "params": {"urls": [pattern]}})

    def console(self):
        """What the page's console has been told since the last time."""
        return self.post("/se/log", {"type": "browser"})

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.post("/screenshot", None, "GET")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.post("", None, "DELETE")
        finally:
            self.process.terminate()
            self.process.wait()
            self.process.stdout.close()
