"""The console in a real browser: Debian's chromium-headless-shell, and axe for what sees no screen.

Pictures of every screen go to the folder TONNAGE_CONSOLE_PICTURES, or nowhere.
"""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import pyarrow as pa
import pyarrow.flight as fl
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from suite import Server, run_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = os.environ.get("TONNAGE_CONSOLE_PICTURES")
SCREENS = ["overview", "sql", "tables", "map", "pairs", "load", "jobs", "security", "bench", "about"]
SHIPS = """CREATE TABLE ships (mmsi LONG, at TIMESTAMP(3), lat DOUBLE, lon DOUBLE, name STRING,
    PRIMARY KEY (SHARD(mmsi), at))"""
# A PNG of one red pixel.
PICTURE = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5E"
           "rkJggg==")
WATCH = """window.broken = [];
document.addEventListener('securitypolicyviolation',
    (event) => window.broken.push(`${event.violatedDirective} ${event.blockedURI}`));"""

play = sync_playwright().start()
browser = play.chromium.launch(
    executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell"),
    args=["--no-sandbox"],
)


def call(server, path, body=None, headers=()):
    """A call of a program; JSON where that comes."""
    request = urllib.request.Request(server.http + path, body and body.encode(), dict(headers))
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    return json.loads(text) if text.startswith(("{", "[")) else text


def sql(server, text, **others):
    return call(server, "/v1/sql", json.dumps({"sql": text, **others}))


def put(server, table, text):
    call(server, f"/v1/tables/{table}/rows", text, [("Content-Type", "text/csv")])


def put_fleet(server, ships=300, places=20):
    lines = ["mmsi,at,lat,lon,name"]
    for ship in range(ships):
        for place in range(places):
            lat = 54 + ship * 7 % 300 / 100 + place / 200
            lon = 2 + ship * 13 % 500 / 100 + place / 100
            at = f"2026-01-03T{6 + place // 60:02}:{place % 60:02}:00"
            lines.append(f"{219000000 + ship},{at},{lat},{lon},SHIP {ship}")
    put(server, "ships", "\n".join(lines) + "\n")


def fill(server):
    """Tables of which each screen has something to show."""
    put_fleet(server)
    call(server, "/v1/tables", "CREATE TABLE phones (id LONG, maker STRING, price NUMBER(10, 2), "
         "image BINARY, spec JSON, PRIMARY KEY (id)); CREATE TABLE phones.reviews (n LONG, "
         "said STRING, PRIMARY KEY (n)); CREATE TABLE empty (id LONG, PRIMARY KEY (id))")
    for number in range(500):
        row = {"maker": ["Acme", "Borea"][number % 2], "price": "349.90",
               "image": PICTURE if number % 2 else None, "spec": {"cpu": {"cores": number}}}
        request = urllib.request.Request(
            f"{server.http}/v1/tables/phones/row?id={number}", json.dumps(row).encode(),
            {"Content-Type": "application/json"}, method="PUT")
        urllib.request.urlopen(request).close()
    for user in range(30):
        put_pair(server, f"/users/{user}/-/profile", json.dumps({"name": f"user {user}"}).encode())


def put_pair(server, key, value, **headers):
    address = f"{server.http}/v1/pair?{urllib.parse.urlencode({'key': key})}"
    request = urllib.request.Request(address, value, headers, method="PUT")
    urllib.request.urlopen(request).close()


def page_of(server, screen="", scheme="light", size=(1280, 800), motion="reduce", **query):
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme,
        reduced_motion=motion)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.failures = []
    page.on("pageerror", lambda error: page.failures.append(str(error)))
    go(page, server, screen, **query)
    return page


def go(page, server, screen, **query):
    text = urllib.parse.urlencode(query)
    page.goto(f"{server.http}/console/#/{screen}{text and '?' + text}")
    page.wait_for_selector("main")
    page.locator("main p.hint[role=status]").wait_for(state="detached")


class OpenLoad:
    """A bulk put of ships whose client goes on and on."""

    def __init__(self, server, job, rows=5_000, command=None):
        command = command or json.dumps({"bulk_put": {"table": "ships", "job": job}})
        ships = pa.record_batch({
            "mmsi": pa.array(range(rows), pa.int64()),
            "at": pa.array([1_767_420_000_000] * rows, pa.timestamp("ms")),
            "lat": [54.5] * rows, "lon": [3.5] * rows, "name": ["OPEN"] * rows})
        self.writer, self.reader = server.client.do_put(
            fl.FlightDescriptor.for_command(command), ships.schema)
        self.writer.write_batch(ships)

    def end(self):
        try:
            self.writer.close()
        except pa.ArrowException:
            pass  # It was cancelled.


def choose(page, name, text):
    """Chooses a file, and waits until it was looked at."""
    page.locator("#file").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    page.get_by_role("grid", name="First rows").wait_for()


def run(page):
    """Runs the statement that the editor has."""
    page.get_by_role("button", name="Run", exact=True).click()


def picture(page, name):
    if PICTURES:
        pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{PICTURES}/{name}.png")


def grid_cells(page, label):
    rows = page.locator(f"[role=grid][aria-label='{label}'] .grid-body [role=row]")
    rows.first.wait_for()
    return [row.locator("[role=gridcell]").all_inner_texts() for row in rows.all()]


def walk(server, scheme, look):
    """Every screen, empty ones, full ones and failing ones."""
    page = page_of(server, "about", scheme)
    look(page, "about")
    for name, screen, query in [
        ("sql", "sql", {}),
        ("sql-rows", "sql", {"q": "SELECT * FROM phones ORDER BY id"}),
        ("sql-plan", "sql", {"q": "EXPLAIN SELECT maker, count(*) FROM phones GROUP BY maker"}),
        ("sql-error", "sql", {"q": "SELECT\n  makr FROM phones"}),
        ("tables", "tables", {"path": "phones"}),
        ("tables-empty", "tables", {"path": "empty"}),
        ("map", "map", {"table": "ships"}),
        ("map-track", "map", {"table": "ships", "key": "219000007"}),
        ("map-names", "map", {"table": "ships", "colour": "name"}),
        ("map-numbers", "map", {"table": "ships", "colour": "mmsi"}),
        ("overview", "overview", {}),
        ("jobs", "jobs", {}),
        ("security", "security", {}),
        ("bench", "bench", {}),
        ("load", "load", {}),
        ("pairs", "pairs", {}),
        ("pairs-one", "pairs", {"path": "/", "key": "/users/1/-/profile"}),
    ]:
        page.goto("about:blank")
        go(page, server, screen, **query)
        if "q" in query:
            run(page)
        page.wait_for_timeout(800)
        look(page, name)
    page.goto("about:blank")
    go(page, server, "tables", path="phones")
    page.get_by_role("button", name="Columns").click()
    look(page, "tables-columns")
    go(page, server, "jobs")
    page.locator("button.plain").first.click()
    look(page, "jobs-open")
    go(page, server, "load", table="ships")
    choose(page, "more.csv", "mmsi,at,lat\n1,2026-01-03T06:00:00,54\nx,,\n")
    look(page, "load-seen")
    page.get_by_role("button", name="Load", exact=True).click()
    page.get_by_role("region", name="Report").wait_for()
    look(page, "load-report")
    page.get_by_label("Into").select_option("")
    page.get_by_label("Definition").wait_for()
    look(page, "load-new")
    assert not page.failures, page.failures
    page.context.close()


def axe_finds_nothing_in_light_and_dark(server):
    fill(server)
    load = OpenLoad(server, "nightly")
    found = []

    def look(page, name):
        picture(page, f"{name}-{scheme}")
        for violation in Axe().run(page).response["violations"]:
            found.append((name, scheme, violation["id"], violation["nodes"][0]["html"][:100]))

    for scheme in ["light", "dark"]:
        walk(server, scheme, look)
    load.end()
    assert not found, found


def no_request_leaves_the_origin_and_no_policy_is_broken(server):
    fill(server)
    asked, broken = set(), []

    def look(page, name):
        asked.update(page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)"))
        broken.extend(page.evaluate("window.broken"))

    walk(server, "light", look)
    strange = [url for url in asked if not url.startswith((server.http + "/", "blob:", "data:"))]
    assert not strange and not broken, (strange, broken)
    assert len(asked) > 10, asked


def nothing_is_cut_on_any_width(server):
    fill(server)
    for width in [360, 768, 1280, 1920]:
        page = page_of(server, "about", size=(width, 800))
        for screen in SCREENS:
            go(page, server, screen)
            page.wait_for_timeout(500)
            picture(page, f"{screen}-{width}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{screen}: {wide} of {width}"
        page.context.close()


def an_error_is_marked_where_it_is(server):
    fill(server)
    page = page_of(server, "sql", q="SELECT id,\n  makr FROM phones")
    run(page)
    mark = page.locator(".cm-lintRange-error")
    mark.wait_for()
    assert mark.inner_text() == "makr", mark.inner_text()
    assert "line 2, column 3" in page.locator("[role=alert]").inner_text()
    page.context.close()


def an_address_runs_no_statement(server):
    """A link of another page must not change what is stored."""
    fill(server)
    page = page_of(server, "sql", q="DROP TABLE empty")
    page.locator(".cm-content").wait_for()
    for _ in range(2):
        page.wait_for_timeout(1_000)
        assert page.locator(".cm-content").inner_text().strip() == "DROP TABLE empty"
        assert "empty" in call(server, "/v1/tables")["tables"][0]["path"]
        page.reload()
    run(page)
    page.locator("main [role=status]", has_text="empty").wait_for()
    assert "empty" not in [table["path"] for table in call(server, "/v1/tables")["tables"]]
    page.context.close()


def cells_are_those_of_the_json_answer(server):
    text = """SELECT 9007199254740993 AS l, CAST('-1.50' AS DOUBLE) AS d,
        CAST('123456789012345678901234567890.12' AS NUMBER(60, 2)) AS n, true AS b, 'a "b" <i>' AS s,
        NULL AS nothing, DATE '2026-01-03' AS day, TIMESTAMP '2026-01-03T06:00:00.123' AS at,
        TIME '06:00:00' AS t, ARRAY[1, 2] AS list, 0.1 AS tenth"""
    answer = sql(server, text)

    def shown(value):
        if value is None:
            return "NULL"
        if isinstance(value, (list, dict)):
            return json.dumps(value, separators=(",", ":"))
        return str(value).lower() if isinstance(value, bool) else str(value)

    page = page_of(server, "sql", q=text)
    run(page)
    cells = grid_cells(page, "Result")[0]
    wanted = [shown(value) for value in answer["rows"][0]]
    wanted[1] = "-1.5"
    assert cells == wanted, (cells, wanted)
    page.context.close()


def a_million_rows_scroll(server):
    page = page_of(server, "about")
    go(page, server, "sql")
    page.locator("label", has_text="Rows").locator("select").select_option("1000000")
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT value AS n FROM generate_series(1, 1000000)")
    page.keyboard.press("Control+Enter")
    grid = page.get_by_role("grid", name="Result")
    grid.wait_for(timeout=60_000)
    assert grid.get_attribute("aria-rowcount") == "1000001"
    grid.focus()
    page.keyboard.press("End")
    page.wait_for_timeout(300)
    assert ["1000000"] in grid_cells(page, "Result"), grid_cells(page, "Result")[-3:]
    elements = page.locator("[role=grid] [role=row]").count()
    assert elements < 100, elements
    page.context.close()


def pages_go_on_and_back(server):
    fill(server)
    page = page_of(server, "tables", path="phones")
    label = "Rows of phones"

    def first():
        page.wait_for_timeout(400)
        return grid_cells(page, label)[0][0]

    seen = [first()]
    for button in ["Later", "Later", "Earlier", "Last", "Earlier", "First"]:
        page.get_by_role("button", name=button, exact=True).click()
        seen.append(first())
    assert seen == ["0", "200", "400", "200", "300", "100", "0"], seen
    page.context.close()


def a_row_is_changed_and_deleted(server):
    fill(server)
    page = page_of(server, "tables", path="phones")
    page.get_by_role("button", name="Edit").click()
    page.locator("#field-maker").fill("Zeta")
    page.locator("#field-price").fill("12345678.25")
    page.locator("#field-spec").fill('{"a": [1, 2')
    page.get_by_role("button", name="Save").click()
    page.locator(".edit .failure", has_text="spec is no JSON").wait_for()
    page.locator("#field-spec").fill('{"a": [1, 2]}')
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit").wait_for()
    query = "SELECT maker, price, spec, image IS NULL FROM phones WHERE id = 0"
    assert sql(server, query)["rows"] == [["Zeta", 12345678.25, {"a": [1, 2]}, True]]
    # Somebody else was faster.
    page.get_by_role("button", name="Edit").click()
    page.locator("#field-maker").fill("Late")
    sql(server, "UPDATE phones SET maker = 'Early' WHERE id = 0")
    page.get_by_role("button", name="Save").click()
    page.locator(".edit .failure", has_text="changed the row meanwhile").wait_for()
    page.get_by_role("button", name="Leave it").click()
    assert sql(server, query)["rows"][0][0] == "Early"
    page.get_by_role("button", name="Delete").click()
    assert sql(server, "SELECT count(*) FROM phones")["rows"] == [[500]], "it asks once more"
    page.get_by_role("button", name="Delete for good").click()
    page.locator("[role=gridcell]", has_text="Borea").first.wait_for()
    page.wait_for_function("document.querySelectorAll('[role=gridcell]')[0].innerText === '1'")
    assert sql(server, "SELECT count(*) FROM phones")["rows"] == [[499]]
    assert not page.failures, page.failures
    page.context.close()


def the_keyboard_is_enough(server):
    fill(server)
    page = page_of(server, "sql")
    page.locator(".cm-content").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT id FROM phones WHERE id < 3 ORDER BY id")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    assert grid_cells(page, "Result") == [["0"], ["1"], ["2"]]
    page.locator(".cm-content").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Run"
    go(page, server, "map", table="ships")
    page.get_by_role("grid", name="In view").focus()
    page.wait_for_timeout(500)
    page.keyboard.press("ArrowDown")
    page.get_by_text("20 places").wait_for(timeout=5_000)
    # Told before, so that the browser knows in time that somebody waits for a choice of a file.
    choices = []
    page.on("filechooser", lambda choice: choices.append(choice))
    go(page, server, "load", table="empty")
    page.locator("#file").focus()
    page.keyboard.press("Enter")
    for _ in range(200):
        if choices:
            break
        page.wait_for_timeout(100)
    choices[0].set_files({"name": "ids.csv", "mimeType": "text/csv", "buffer": b"id\n1\n2\n"})
    page.get_by_role("grid", name="First rows").wait_for()
    for _ in range(5):  # into, existing, failures, check, load
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Load"
    page.keyboard.press("Enter")
    page.get_by_text("2 rows inserted into empty").wait_for(timeout=20_000)
    page.context.close()


def drawn(page):
    """How many pixels of the map are ships, and their middle."""
    return page.evaluate("""() => {
        const canvas = document.querySelector('canvas.top');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let [count, x, y] = [0, 0, 0];
        for (let at = 0; at < data.length; at += 4) if (data[at + 3]) {
            count++; x += (at / 4) % canvas.width; y += Math.floor(at / 4 / canvas.width);
        }
        return { count, x: x / count, y: y / count, width: canvas.width, height: canvas.height };
    }""")


def a_ship_is_drawn_in_the_middle_of_its_own_map(server):
    for lat, lon in [(54.5, 10.25), (-33.9, 18.4), (1.2, 103.8), (64.1, -179.99), (51.9, 179.99)]:
        sql(server, "DELETE FROM ships")
        put(server, "ships", f"mmsi,at,lat,lon,name\n1,2026-01-03T06:00:00,{lat},{lon},ONE\n"
            f"2,2026-01-03T06:00:00,91,181,NOWHERE\n")
        page = page_of(server, "map", table="ships")
        page.wait_for_timeout(1_000)
        found = drawn(page)
        assert found["count"] > 0, (lat, lon, found)
        far = max(abs(found["x"] - found["width"] / 2), abs(found["y"] - found["height"] / 2))
        assert far <= 2, (lat, lon, found)
        assert "1 without a place" in page.locator(".legend").inner_text()
        page.context.close()


def a_click_shows_the_track_within_a_second(server):
    put_fleet(server, ships=1, places=50)
    page = page_of(server, "map", table="ships")
    page.wait_for_timeout(1_000)
    box = page.locator("canvas.top").bounding_box()
    started = time.monotonic()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.get_by_text("50 places").wait_for(timeout=5_000)
    seconds = time.monotonic() - started
    assert seconds < 1, seconds
    slider = page.get_by_role("slider")
    assert slider.input_value() == "49", slider.input_value()
    page.context.close()


def a_ship_goes_from_place_to_place(server):
    """Between two readings it is on its way; who wants no motion sees it jump."""
    ends = "1,2026-01-03T06:00:00,54,3,A\n2,2026-01-03T06:00:00,56,9,B\n"
    for motion in ["no-preference", "reduce"]:
        sql(server, "DELETE FROM ships")
        put(server, "ships", f"mmsi,at,lat,lon,name\n{ends}3,2026-01-03T06:00:00,55,4,MOVER\n")
        page = page_of(server, "map", motion=motion, table="ships", colour="name")
        page.wait_for_timeout(1_000)
        for name in ["A", "B"]:
            page.locator(".entry", has=page.locator(f".name:text-is('{name}')")).click()
        page.wait_for_timeout(200)
        first = drawn(page)
        put(server, "ships", "mmsi,at,lat,lon,name\n3,2026-01-03T06:01:00,55,8,MOVER\n")
        places = set()
        deadline = time.monotonic() + 6
        while time.monotonic() < deadline:
            places.add(round(drawn(page)["x"]))
            page.wait_for_timeout(50)
        last = max(places)
        assert last > first["x"] + 100, (first, places)
        between = [x for x in places if first["x"] + 5 < x < last - 5]
        assert (len(between) >= 5) == (motion == "no-preference"), (motion, sorted(places))
        page.context.close()


def colours_follow_a_column_and_hide_what_they_stand_for(server):
    put_fleet(server, ships=30, places=1)
    sql(server, "UPDATE ships SET name = CASE WHEN mmsi < 219000010 THEN 'cargo' ELSE 'tug' END")
    page = page_of(server, "map", table="ships", colour="name")
    entries = page.locator(".entry")
    entries.first.wait_for()
    told = [" ".join(text.split()) for text in entries.all_inner_texts()]
    assert told == ["tug 20", "cargo 10"], told

    def colours():
        page.wait_for_timeout(300)
        return page.evaluate("""() => {
            const canvas = document.querySelector('canvas.top');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const seen = {};
            for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) {
                const colour = `rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`;
                seen[colour] = (seen[colour] ?? 0) + 1;
            }
            return seen;
        }""")

    swatch = {text.split()[0]: entries.nth(n).locator(".swatch").evaluate(
        "(one) => getComputedStyle(one).backgroundColor") for n, text in enumerate(told)}
    seen = colours()
    assert all(seen.get(colour, 0) > 50 for colour in swatch.values()), (swatch, seen)
    entries.first.click()
    seen = colours()
    assert swatch["tug"] not in seen and swatch["cargo"] in seen, (swatch, seen)
    assert "colour=name" in page.evaluate("location.hash")
    page.locator("label", has_text="Colour").locator("select").select_option("mmsi")
    page.locator(".entry", has_text="below").wait_for()
    page.context.close()


def a_large_table_is_asked_for_by_what_is_in_view(server):
    """One row a key, with an index by place: the box in view, its date line included, comes by it."""
    call(server, "/v1/tables", "CREATE TABLE now (ship LONG, lat DOUBLE, lon DOUBLE, PRIMARY KEY (ship)); "
         "CREATE INDEX by_place ON now (geo_cell(lon, lat))")
    lines = [f"{n},{-60 + n % 1200 / 10},{-180 + n % 3599 / 10}" for n in range(30_000)]
    put(server, "now", "\n".join(["ship,lat,lon", *lines]) + "\n")
    page = page_of(server, "map", table="now")
    asked = []
    page.on("request", lambda one: one.url.endswith("/v1/sql") and asked.append(json.loads(one.post_data)["sql"]))
    page.get_by_text("at their latest place").wait_for()
    page.locator("canvas.top").focus()
    for _ in range(6):
        page.keyboard.press("+")
    page.get_by_text("in and about the view").wait_for(timeout=20_000)
    near = int(page.locator(".legend b").first.inner_text().replace(",", ""))
    assert 0 < near < 2_500, near
    # A table at rest would be scanned from memory.
    sql(server, "UPDATE now SET lat = lat + 0.001 WHERE ship = 1")
    plan = str(sql(server, "EXPLAIN " + asked[-1])["rows"])
    assert "index by_place" in plan, plan
    # To the other side of the world: the view that has moved is asked for at once.
    while not any("UNION ALL" in one for one in asked) and len(asked) < 100:
        for _ in range(10):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(400)
    assert "BETWEEN -180.000000" in asked[-1] or any("UNION ALL" in one for one in asked), asked[-1]
    assert not page.failures, page.failures
    page.context.close()


def a_hundred_thousand_ships_move_with_the_map(server):
    put_fleet(server, ships=100_000, places=1)
    page = page_of(server, "map", table="ships")
    page.get_by_text("100,000", exact=True).wait_for(timeout=30_000)
    frames = page.evaluate("""async () => {
        const canvas = document.querySelector('canvas.top');
        const told = [];
        let last = performance.now();
        const end = last + 4000;
        for (let n = 0; last < end; n++) {
            const key = ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown', '+', '-'][n % 6];
            canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            await new Promise(requestAnimationFrame);
            const now = performance.now();
            told.push(now - last);
            last = now;
        }
        return told;
    }""")
    rate = len(frames) / (sum(frames) / 1000)
    print(f"# {rate:.0f} frames a second", file=sys.stderr)
    assert rate >= float(os.environ.get("TONNAGE_CONSOLE_FRAMES", "30")), rate
    page.context.close()


def a_page_of_another_origin_reaches_nothing(server):
    fill(server)
    here = server.http
    text = f"""<script>
        fetch('{here}/v1/sql', {{method: 'POST', mode: 'no-cors', body: '{{"sql": "DROP TABLE ships"}}'}})
            .catch(() => 0).then(() => document.body.append(Object.assign(document.createElement('p'), {{id: 'done', innerText: 'done'}})));
    </script><iframe src="{here}/console/"></iframe><a href="{here}/console/#/about">console</a>"""

    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    page = page_of(server)
    page.goto(f"http://127.0.0.1:{other.server_port}/")
    page.locator("#done").wait_for()
    page.wait_for_timeout(500)
    assert sql(server, "SELECT count(*) FROM ships")["rows"][0][0] > 0
    assert not any(frame.locator("nav").count() for frame in page.frames)
    page.get_by_role("link", name="console").click()
    page.get_by_role("heading", name="About").wait_for()
    page.context.close()
    other.shutdown()


SCREENS_OF = {
    "root": ["Overview", "SQL", "Tables", "Map", "Pairs", "Load", "Jobs", "Security", "Bench", "About"],
    "ann": ["SQL", "Tables", "Map", "Pairs", "Jobs", "Bench", "About"],
    "bob": ["SQL", "Tables", "Map", "Jobs", "Bench", "About"],
    "lou": ["Load", "Jobs", "Bench", "About"],
    "oda": ["Overview", "Jobs", "Bench", "About"],
}
# What the page hides from somebody, made by hand: the server refuses it.
HIDDEN = {
    "ann": ["GET /metrics", "GET /v1/events", "GET /v1/statistics", "POST /v1/tables/ships/rows",
            "POST /v1/preview?table=ships"],
    "bob": ["GET /metrics", "GET /v1/tables/secrets/scan", "POST /v1/tables/ships/rows"],
    "lou": ["GET /metrics", "GET /v1/events", "GET /v1/tables/ships/scan"],
    "oda": ["GET /v1/users", "GET /v1/audit", "GET /v1/tables/ships/scan", "POST /v1/tables/ships/rows", "POST /v1/preview"],
}
USERS = """[[user]]\nname = "root"\ntokens = ["{root}"]\nroles = ["admin"]
[[user]]\nname = "ann"\ntokens = ["{ann}"]\nroles = ["reader"]
[[user]]\nname = "lou"\ntokens = ["{lou}"]\nroles = ["loader"]
[[user]]\nname = "oda"\ntokens = ["{oda}"]\nroles = ["operator"]
[[user]]\nname = "bob"\ntokens = ["{bob}"]
grants = [{{ table = "ships", allow = ["read"] }}]\n"""


def log_in(page, token):
    page.get_by_label("Password").fill(token)
    page.get_by_role("button", name="Log in").click()


def statuses(page, calls):
    """What the page's own browser hears of calls."""
    return page.evaluate("""async (calls) => {
        const told = {};
        for (const call of calls) {
            const [method, path] = call.split(' ');
            const body = method === 'POST' ? 'mmsi\\n1\\n' : undefined;
            const headers = { 'Content-Type': 'text/csv' };
            told[call] = (await fetch(path, { method, headers, body })).status;
        }
        return told;
    }""", calls)


def users_see_what_they_may(_):
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in SCREENS_OF}
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as users:
        users.write(USERS.format(**digests))
        users.flush()
        server = Server(arguments=["--users", users.name])
        try:
            root = [("Authorization", "Bearer root")]
            call(server, "/v1/tables", SHIPS + "; CREATE TABLE secrets (id LONG, PRIMARY KEY (id))", root)
            page = page_of(server, "tables")
            log_in(page, "wrong")
            page.locator("[role=alert] .failure").wait_for(timeout=20_000)
            picture(page, "login-light")
            assert not Axe().run(page).response["violations"]
            for name, screens in SCREENS_OF.items():
                page.get_by_label("Password").wait_for()
                log_in(page, name)
                page.locator(".user", has_text=name).wait_for(timeout=20_000)
                seen = page.locator("nav a").all_inner_texts()
                assert seen == screens, (name, seen)
                picture(page, f"rights-{name}")
                if "Tables" in screens:
                    page.locator(".tree a").first.wait_for()
                    shown = page.locator(".tree a span:first-child").all_inner_texts()
                    assert shown == (["ships"] if name == "bob" else ["secrets", "ships"]), shown
                else:
                    assert f"Tables is not for {name}" in page.locator(".notice").inner_text()
                told = statuses(page, HIDDEN.get(name, []))
                assert set(told.values()) <= {403}, (name, told)
                assert "tonnage_session" not in page.evaluate("document.cookie")
                page.get_by_role("button", name="Log out").click()
                page.get_by_role("button", name="Log in").wait_for()
            page.context.close()
        finally:
            server.stop()


def statements_of_one_user_are_not_shown_to_the_next(_):
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in SCREENS_OF}
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as users:
        users.write(USERS.format(**digests))
        users.flush()
        server = Server(arguments=["--users", users.name])
        try:
            page = page_of(server, "sql")
            log_in(page, "root")
            page.locator(".cm-content").click()
            page.keyboard.press("Control+a")
            page.keyboard.type("SELECT 'between us'")
            run(page)
            grid_cells(page, "Result")
            page.goto("about:blank")
            # The login ends while the page is away.
            page.context.clear_cookies()
            for token, name in [("ann", "ann"), ("root", "root")]:
                page.goto(server.http + "/console/#/sql")
                log_in(page, token)
                page.locator(".user", has_text=name).wait_for(timeout=20_000)
                page.locator(".cm-content").wait_for()
                seen = "between us" in page.locator("main").inner_text()
                seen |= page.locator("option", has_text="between us").count() > 0
                assert seen == (name == "root"), (name, page.locator("main").inner_text())
                page.get_by_role("button", name="Log out").click()
                page.get_by_role("button", name="Log in").wait_for()
                page.goto("about:blank")
            page.context.close()
        finally:
            server.stop()


def the_overview_tells_what_the_server_counts(server):
    fill(server)
    page = page_of(server, "")
    page.get_by_role("heading", name="Overview").wait_for()
    chart = page.get_by_role("img", name="Rows a second")
    put_fleet(server, ships=3_000, places=2)
    # The rows of a moment ago are a rise of the curve.
    page.wait_for_function("""() => {
        const told = document.querySelector('svg[aria-label^="Rows a second"]').getAttribute('aria-label');
        return /in ([1-9][\\d,.]*)/.test(told);
    }""", timeout=20_000)
    assert chart.locator("path.s1").get_attribute("d"), "there is a line"
    tiles = dict(zip(page.locator(".tile dt").all_inner_texts(),
                     page.locator(".tile dd").all_inner_texts()))
    statistics = call(server, "/v1/statistics")
    assert tiles["Tables"] == str(statistics["tables"]) == "4", tiles
    calls = page.get_by_role("region", name="Calls").locator("tbody tr").all_inner_texts()
    assert any(line.startswith("rows") for line in calls), calls
    page.keyboard.press("3")
    assert page.get_by_role("button", name="15 min").get_attribute("aria-pressed") == "true"
    page.context.close()


def a_load_shows_its_table_its_time_and_its_rejects(server):
    put(server, "ships", "mmsi,at,lat,lon,name\n1,2026-01-03T06:00:00,54,2,A\nx,soon,54,2,\"B, C\"\n")
    page = page_of(server, "jobs")
    ended = page.get_by_role("region", name="Ended").locator("tbody tr")
    ended.first.wait_for()
    assert "ships" in ended.first.inner_text(), ended.first.inner_text()
    ended.first.locator("button").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="The reject as CSV").click()
    text = pathlib.Path(saved.value.path()).read_text()
    assert text.startswith("stream,name,record,column,reason,row"), text
    assert len(text.splitlines()) == 2 and ",1," in text, text
    command = json.dumps({"bulk_put": {"table": "ships", "job": "half", "expected_rows": 10_000}})
    load = OpenLoad(server, "half", command=command)
    lane = page.locator(".lane", has_text="half")
    lane.get_by_text("50 % of 10,000").wait_for(timeout=20_000)
    assert "into ships" in lane.inner_text(), lane.inner_text()
    load.end()
    page.context.close()


def statements_are_listed_and_cancelled(server):
    sql(server, "SELECT 40 + 2")
    try:
        sql(server, "SELECT nothing FROM nowhere")
    except urllib.error.HTTPError:
        pass
    page = page_of(server, "jobs")
    lines = page.get_by_role("region", name="Statements").locator("tbody tr")
    lines.filter(has_text="SELECT 40 + 2").locator(".pill", has_text="completed").wait_for()
    failed = lines.filter(has_text="nowhere").first
    assert "failed" in failed.inner_text() and failed.locator(".bad").count(), failed.inner_text()
    endless = ("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b "
               "WHERE a.value * b.value % 7 = 3")
    outcome = []

    def ask():
        try:
            outcome.append(sql(server, endless))
        except urllib.error.HTTPError as error:
            outcome.append(json.load(error)["title"])

    running = threading.Thread(target=ask)
    running.start()
    line = lines.filter(has_text="generate_series").first
    line.get_by_role("button").click(timeout=20_000)
    running.join(60)
    assert outcome == ["cancelled"], outcome
    lines.filter(has_text="generate_series").locator(".pill", has_text="cancelled").first.wait_for()
    page.context.close()


def report(target, rate, cores):
    """A report of a benchmark, as far as the page reads it."""
    series = [{"at_seconds": float(second), "warm_up": second < 2, "throughput": rate + second,
               "p99_us": 80.0} for second in range(20)]
    times = [{"percent": 50.0, "us": 40.0}, {"percent": 99.0, "us": 9e7 / rate}]
    run = {"name": "a / zipfian", "target": target, "threads": 4, "failures": 0,
           "throughputs": [rate, rate * 1.1, rate * 0.9], "series": series,
           "operations": [{"name": "READ", "count": 9, "service": {"percentiles": times}}]}
    return json.dumps({"format": 1, "workload": "ycsb", "command": "", "settings": {},
                       "started": "2026-01-03T06:00:00Z", "environment": {"cores": cores},
                       "runs": [run], "charts": [], "notes": ["Half of the memory was taken."]})


def two_reports_are_set_side_by_side(server):
    page = page_of(server, "bench")
    files = [{"name": f"{name}.json", "mimeType": "application/json", "buffer": text.encode()}
             for name, text in [("one", report("rocksdb", 100_000, 2)),
                                ("other", report("memory", 250_000, 4))]]
    page.locator("input[type=file]").set_input_files(files)
    line = page.get_by_role("region", name="Runs").locator("tbody tr").inner_text()
    assert "100 k" in line and "2.50 x" in line and "900 µs" in line and "0.40 x" in line, line
    curves = page.get_by_role("img", name="Operations a second of a / zipfian")
    assert all(curves.locator(f"path.s{one}").get_attribute("d") for one in (1, 2))
    assert page.get_by_role("region", name="Conditions").locator("tbody").inner_text().split() == [
        "cores", "2", "4"]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        picture(page, f"bench-two-{scheme}")
    assert not Axe().run(page).response["violations"]
    wrong = [{"name": "x.json", "mimeType": "application/json", "buffer": b'{"a": 1}'}]
    page.locator("input[type=file]").set_input_files(wrong)
    assert "tonnage bench" in page.get_by_role("alert").inner_text()
    page.context.close()


def the_users_and_the_audit_log_are_shown_to_administrators(_):
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in SCREENS_OF}
    with tempfile.TemporaryDirectory() as folder:
        users, audit = pathlib.Path(folder, "users.toml"), pathlib.Path(folder, "audit.jsonl")
        users.write_text(USERS.format(**digests))
        server = Server(arguments=["--users", str(users), "--audit", str(audit)])
        try:
            call(server, "/v1/tables", SHIPS, [("Authorization", "Bearer root")])
            try:
                call(server, "/v1/tables", "DROP TABLE ships", [("Authorization", "Bearer bob")])
            except urllib.error.HTTPError as error:
                assert error.code == 403, error
            page = page_of(server, "security")
            log_in(page, "root")
            table = page.get_by_role("region", name="Users").locator("tbody tr")
            table.first.wait_for()
            lines = table.all_inner_texts()
            assert len(lines) == 5 and any("ships: read" in line for line in lines), lines
            page.get_by_label("Who may do what with").select_option("ships")
            bob = table.filter(has_text="bob")
            bob.locator(".pill.good", has_text="read").wait_for()
            assert "nothing" in table.filter(has_text="oda").inner_text()
            page.get_by_label("refused alone").check()
            log = page.get_by_role("region", name="Audit log").locator("tbody tr")
            log.filter(has_text="bob").filter(has_text="ships").first.wait_for()
            assert log.locator(".pill.good").count() == 0, "allowed ones are left out"
            page.get_by_label("Filter").fill("no such user")
            page.wait_for_function("""() => document.querySelectorAll(
                '[aria-label="Audit log"] tbody tr').length === 0""")
            page.get_by_label("Filter").fill("")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                picture(page, f"security-users-{scheme}")
            assert not Axe().run(page).response["violations"]
            page.context.close()
        finally:
            server.stop()


def pairs_are_looked_at_changed_and_deleted(server):
    for user in range(230):
        put_pair(server, f"/users/{user:03}/-/mail", b"someone@example.org")
    put_pair(server, "/users/007/-/photo", base64.b64decode(PICTURE))
    put_pair(server, "/users/007/-/key", bytes(range(256)))
    page = page_of(server, "pairs")
    keys = page.locator(".tree a")
    keys.first.wait_for()
    assert keys.count() == 200, keys.count()
    page.get_by_role("button", name="More").click()
    page.wait_for_function("document.querySelectorAll('.tree a').length === 232")
    page.get_by_label("Path").fill("/users/007/-/")
    page.get_by_label("Path").press("Enter")
    page.wait_for_function("document.querySelectorAll('.tree a').length === 3")
    keys.filter(has_text="photo").click()
    page.get_by_alt_text("picture of /users/007/-/photo").wait_for()
    keys.filter(has_text="/-/key").click()
    page.locator("pre", has_text="000010  10 11 12").wait_for()
    keys.filter(has_text="mail").click()
    page.get_by_text("someone@example.org").wait_for()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Value").fill("bond@example.org")
    # Somebody else was first.
    put_pair(server, "/users/007/-/mail", b"other@example.org")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").wait_for()
    page.get_by_role("button", name="Leave it").click()
    keys.filter(has_text="photo").click()
    keys.filter(has_text="mail").click()
    page.get_by_text("other@example.org").wait_for()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Value").fill("bond@example.org")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved").wait_for()
    assert call(server, "/v1/pair?key=/users/007/-/mail") == "bond@example.org"
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete the pair").click()
    page.wait_for_function("document.querySelectorAll('.tree a').length === 2")
    page.get_by_label("Key").fill("/users/007/-/note")
    page.get_by_label("Value").fill("shaken")
    page.get_by_role("button", name="Store").click()
    page.wait_for_function("document.querySelectorAll('.tree a').length === 3")
    assert call(server, "/v1/pair?key=/users/007/-/note") == "shaken"
    page.context.close()


def jobs_are_followed_and_cancelled(server):
    put_fleet(server, ships=10, places=2)
    page = page_of(server, "jobs")
    ended = page.get_by_role("region", name="Ended").locator("tbody tr")
    ended.first.wait_for()
    assert "completed" in ended.first.inner_text() and "20" in ended.first.inner_text()
    page.get_by_text("No load runs.").wait_for()
    load = OpenLoad(server, "nightly")
    lane = page.locator(".lane", has_text="nightly")
    lane.wait_for(timeout=10_000)
    lane.locator("dd", has_text="5,000").first.wait_for(timeout=20_000)
    # One click too many ends nothing.
    lane.get_by_role("button", name="Cancel nightly").click()
    lane.get_by_role("button", name="Go on").click()
    assert call(server, "/v1/jobs/nightly")["state"] == "running"
    lane.get_by_role("button", name="Cancel nightly").click()
    lane.get_by_role("button", name="Cancel nightly").click()
    lane.wait_for(state="detached", timeout=20_000)
    ended.filter(has_text="nightly").locator(".pill", has_text="stopped").wait_for(timeout=20_000)
    load.end()
    page.context.close()


def a_file_is_looked_at_checked_and_loaded(server):
    page = page_of(server, "load")
    page.get_by_label("Into").select_option("ships")
    rows = [f"{n},2026-01-03T06:00:00,54.5,{n}.25,SHIP {n}" for n in range(30_000)]
    rows[17] = "17,yesterday,54.5,1,SHIP 17"
    rows[29_999] = rows[29_998]
    text = "mmsi,at,lat,lon,name\n" + "\n".join(rows) + "\n"
    choose(page, "fleet.csv", text)
    cells = grid_cells(page, "First rows")
    assert cells[0][0] == "0" and cells[0][4] == "SHIP 0", cells[0]
    assert "The first" in page.locator("main p[role=status]").last.inner_text()
    page.get_by_role("button", name="Check all of it").click()
    page.get_by_text("30,000 records: 29,999 fit ships").wait_for(timeout=20_000)
    assert grid_cells(page, "Rejects")[0][:2] == ["17", "at"]
    assert sql(server, "SELECT count(*) FROM ships")["rows"] == [[0]], "nothing is stored yet"
    page.get_by_role("button", name="Load", exact=True).click()
    report = page.get_by_role("region", name="Report")
    report.wait_for(timeout=20_000)
    told = report.inner_text()
    assert "29,998 rows inserted into ships" in told, told
    counts = dict(zip(report.locator("dt").all_inner_texts(), report.locator("dd").all_inner_texts()))
    assert counts == {"read": "30,000", "inserted": "29,998", "existed": "1", "failed": "1"}, counts
    with page.expect_download() as saved:
        report.get_by_role("button", name="Rejects as CSV").click()
    lines = pathlib.Path(saved.value.path()).read_text().splitlines()
    assert lines[0] == "record,column,reason" and lines[1].startswith("17,at,"), lines
    assert sql(server, "SELECT count(*) FROM ships")["rows"] == [[29_998]]
    page.context.close()


def a_file_makes_its_own_table(server):
    page = page_of(server, "load")
    page.get_by_label("Into").select_option("")
    choose(page, "Port calls 2026.csv", "port,at,berth,tons\nNLRTM,2026-01-03T06:00:00,7,12.5\n"
           "NLRTM,2026-01-03T07:00:00,8,\n")
    definition = page.get_by_label("Definition")
    assert "CREATE TABLE port_calls_2026" in definition.input_value(), definition.input_value()
    assert "PRIMARY KEY (SHARD(port), at)" in definition.input_value(), definition.input_value()
    page.get_by_label("berth is in the key").check()
    page.get_by_label("at is in the key").uncheck()
    page.get_by_role("button", name="Make the table, and load").click()
    page.get_by_role("region", name="Report").wait_for(timeout=20_000)
    [table] = [one for one in call(server, "/v1/tables")["tables"] if one["path"] == "port_calls_2026"]
    keys = {one["name"]: one["key"] for one in table["columns"] if one["key"] is not None}
    assert keys == {"port": 0, "berth": 1}, keys
    rows = sql(server, "SELECT port, berth, tons FROM port_calls_2026 ORDER BY berth")["rows"]
    assert rows == [["NLRTM", 7, 12.5], ["NLRTM", 8, None]], rows
    page.get_by_role("link", name="Rows of port_calls_2026").click()
    assert len(grid_cells(page, "Rows of port_calls_2026")) == 2
    page.context.close()


def a_load_that_stops_tells_what_it_refused(server):
    page = page_of(server, "load", table="ships")
    rows = [f"{n},2026-01-03T06:00:00,{'north' if n % 100 == 7 else 54}" for n in range(1_000)]
    choose(page, "fleet.csv", "mmsi,at,lat\n" + "\n".join(rows) + "\n")
    page.get_by_label("failures").fill("3")
    page.get_by_role("button", name="Load", exact=True).click()
    page.locator("p.failure[role=alert]").wait_for(timeout=20_000)
    refused = grid_cells(page, "Rejects")
    assert [cells[:2] for cells in refused[:2]] == [["7", "lat"], ["107", "lat"]], refused
    page.context.close()


def a_file_whose_sending_is_cancelled_loads_nothing(server):
    page = page_of(server, "load", table="ships")
    rows = [f"{n},2026-01-03T06:00:00,54,3,{'X' * 60}" for n in range(60_000)]
    choose(page, "fleet.csv", "mmsi,at,lat,lon,name\n" + "\n".join(rows) + "\n")
    line = page.context.new_cdp_session(page)
    line.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000})
    page.get_by_role("button", name="Load", exact=True).click()
    page.wait_for_function(
        "() => document.querySelector('progress')?.value > 0.2", timeout=30_000)
    page.get_by_role("button", name="Cancel").click()
    page.locator("p.failure[role=alert]", has_text="Cancelled").wait_for()
    page.wait_for_timeout(1_000)
    assert sql(server, "SELECT count(*) FROM ships")["rows"] == [[0]]
    page.context.close()


def a_file_with_other_columns_is_not_loaded(server):
    page = page_of(server, "load", table="ships")
    choose(page, "other.csv", "mmsi,colour\n1,red\n")
    assert "ships has no column colour" in page.locator(".notice").inner_text()
    assert page.get_by_role("button", name="Load", exact=True).is_disabled()
    page.context.close()


def statements_stay_side_by_side(server):
    fill(server)
    page = page_of(server, "sql", q="SELECT 1 AS one")
    run(page)
    assert grid_cells(page, "Result") == [["1"]]
    page.get_by_role("button", name="New statement").click()
    page.keyboard.type("DELETE FROM phones")
    page.keyboard.press("Escape")
    strip = page.get_by_role("group", name="Open statements")
    page.reload()
    strip.get_by_role("button", name="DELETE FROM phones", exact=True).wait_for()
    page.wait_for_timeout(500)
    assert sql(server, "SELECT count(*) FROM phones")["rows"] == [[500]], "a tab runs nothing"
    strip.get_by_role("button", name="SELECT 1 AS one", exact=True).click()
    assert page.locator(".cm-content").inner_text().strip() == "SELECT 1 AS one"
    strip.get_by_role("button", name="Close SELECT 1 AS one").click()
    assert page.locator(".cm-content").inner_text().strip() == "DELETE FROM phones"
    # Each has its own steps back.
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    assert "SELECT 1" not in page.locator(".cm-content").inner_text()
    page.context.close()


def rows_are_saved_as_files(server):
    fill(server)
    text = "SELECT id, maker FROM phones WHERE id < 3 ORDER BY id"
    page = page_of(server, "sql", q=text)
    run(page)
    page.get_by_role("grid", name="Result").wait_for()
    saved = {}
    for kind in ["CSV", "JSON", "Parquet"]:
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        saved[kind] = pathlib.Path(download.value.path()).read_bytes()
        page.get_by_role("button", name=kind, exact=True).and_(page.locator(":enabled")).wait_for()
    assert saved["CSV"].decode().splitlines() == ["id,maker", "0,Acme", "1,Borea", "2,Acme"]
    lines = [json.loads(line) for line in saved["JSON"].decode().splitlines()]
    assert lines == [{"id": n, "maker": ["Acme", "Borea"][n % 2]} for n in range(3)], lines
    assert saved["Parquet"][:4] == b"PAR1"
    page.get_by_role("button", name="New statement").click()
    page.keyboard.type("INSERT INTO empty VALUES (7) RETURNING id")
    page.keyboard.press("Control+Enter")
    page.get_by_text("A change is not run again").wait_for()
    assert page.get_by_role("button", name="CSV", exact=True).count() == 0
    assert sql(server, "SELECT id FROM empty")["rows"] == [[7]]
    page.context.close()


def a_plan_is_a_tree(server):
    fill(server)
    page = page_of(server, "sql", q="SELECT maker, count(*) FROM phones GROUP BY maker")
    page.get_by_role("button", name="Explain").click()
    plan = page.get_by_role("region", name="Plan")
    plan.wait_for()
    assert plan.locator("li li b", has_text="Scan").count() > 0, plan.inner_text()
    assert plan.locator(".pill.warn").inner_text() == "full scan"
    go(page, server, "sql", q="SELECT maker FROM phones WHERE id = 7")
    page.get_by_role("button", name="Explain").click()
    plan.locator(".pill.good").wait_for()
    page.context.close()


def the_bundle_is_what_its_sources_give(_):
    if not shutil.which("npm"):
        print("# npm is missing: the bundle was not built again", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "console"
        shutil.copytree(ROOT / "crates/console", copy, ignore=shutil.ignore_patterns("node_modules"))
        for command in [["npm", "ci", "--silent"], ["npx", "tsc", "--noEmit"], ["node", "build.mjs"]]:
            subprocess.run(command, cwd=copy / "web", check=True, stdout=subprocess.DEVNULL)
        built, kept = copy / "dist", ROOT / "crates/console/dist"
        names = sorted(os.listdir(kept))
        assert sorted(os.listdir(built)) == names, os.listdir(built)
        other = [name for name in names if (built / name).read_bytes() != (kept / name).read_bytes()]
        assert not other, other


run_cases(
    [
        axe_finds_nothing_in_light_and_dark,
        no_request_leaves_the_origin_and_no_policy_is_broken,
        nothing_is_cut_on_any_width,
        an_error_is_marked_where_it_is,
        an_address_runs_no_statement,
        cells_are_those_of_the_json_answer,
        a_million_rows_scroll,
        pages_go_on_and_back,
        a_row_is_changed_and_deleted,
        the_keyboard_is_enough,
        a_ship_is_drawn_in_the_middle_of_its_own_map,
        a_click_shows_the_track_within_a_second,
        a_large_table_is_asked_for_by_what_is_in_view,
        a_hundred_thousand_ships_move_with_the_map,
        a_ship_goes_from_place_to_place,
        colours_follow_a_column_and_hide_what_they_stand_for,
        a_page_of_another_origin_reaches_nothing,
        users_see_what_they_may,
        statements_of_one_user_are_not_shown_to_the_next,
        the_overview_tells_what_the_server_counts,
        jobs_are_followed_and_cancelled,
        a_load_shows_its_table_its_time_and_its_rejects,
        statements_are_listed_and_cancelled,
        the_users_and_the_audit_log_are_shown_to_administrators,
        two_reports_are_set_side_by_side,
        pairs_are_looked_at_changed_and_deleted,
        a_file_is_looked_at_checked_and_loaded,
        a_file_makes_its_own_table,
        a_load_that_stops_tells_what_it_refused,
        a_file_whose_sending_is_cancelled_loads_nothing,
        a_file_with_other_columns_is_not_loaded,
        statements_stay_side_by_side,
        rows_are_saved_as_files,
        a_plan_is_a_tree,
        the_bundle_is_what_its_sources_give,
    ],
    SHIPS,
)
