#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The HTML report in a real browser: pictures are drawn, filters work, nothing is fetched, no error
# is on the console, on a phone and in the dark, and with 10,000 samples. Needs chromium.
# Usage: BUILD=build tests/lab/report.sh
. "$(dirname "$0")/common.sh"
browser=$(command -v chromium || command -v chromium-browser) ||
	skip_all report "chromium is not installed"

browse=(timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
	--disable-background-networking --disable-component-update --disable-sync
	"--host-resolver-rules=MAP * ~NOTFOUND" "--user-data-dir=$work/browser")

cat >"$work/spec.yaml" <<'END'
tunesweep: 1
name: report-test
test: {engine: simulated, surface: table, noise: 3%}
tunables:
  - {set: param.tcp_wmem, type: int, range: [16384, 1048576], scale: log, default: 131072}
  - {set: param.tcp_rmem, type: int, range: [16384, 1048576], scale: log, default: 131072}
  - {set: param.cc, choices: [cubic, bbr, "</script><img src=x onerror=alert(1)>"], default: cubic}
  - {set: param.streams, type: int, range: [1, 16], default: 1}
search: {algorithm: sobol, samples: 60, time: 60s, seed: 1}
proof: {pairs: 4, time: 20s}
END

# What the page itself can tell, written into the document: put before and behind the page's own.
before='<script>window.faults = []; onerror = (m) => faults.push(m);
addEventListener("securitypolicyviolation", (v) => faults.push("policy: " + v.blockedURI));</script>'
behind='<script>addEventListener("load", () => setTimeout(() => {
	const ink = (c) => new Set(new Uint32Array(c.getContext("2d")
		.getImageData(0, 0, c.width, c.height).data.buffer)).size;
	const text = (id) => document.getElementById(id)?.textContent;
	const set = (e, v) => { e.value = v; e.dispatchEvent(new Event(e.tagName === "SELECT" ? "change" : "input")); };
	const answer = {opened: Math.round(performance.now()), faults: faults.length,
		charts: document.querySelectorAll("canvas").length,
		empty: [...document.querySelectorAll("canvas")].filter((c) => ink(c) < 10).map((c) => c.id).join(),
		fetched: performance.getEntriesByType("resource").filter((r) => !/^(file|data):/.test(r.name)).length,
		wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
		all: text("parallel-count")};
	const color = () => Chart.defaults.color;
	dispatchEvent(new Event("beforeprint"));
	answer.paper = color();
	dispatchEvent(new Event("afterprint"));
	answer.screen = color();
	const sample = () => Chart.getChart("sample-chart")?.data.datasets.length;
	if (sample()) {
		const odd = document.querySelector("#sample select"), option = (word) =>
			[...odd.options].find((o) => o.textContent.includes(word))?.value;
		answer.marked = document.querySelector("#marked figcaption")?.textContent;
		answer.marks = Chart.getChart("marked-chart")?.data.datasets.slice(0, 2).map((d) => d.data.length).join();
		set(odd, option("outlier"));
		answer.totals = text("sample-totals");
		answer.first = Chart.getChart("sample-chart").data.datasets[2]?.data.map((p) => p.x + " s: " + p.n).join();
		answer.folded = sample();
		document.getElementById("sample-all").click();
		answer.unfolded = sample();
		set(odd, option("(baseline)"));
		answer.quiet = text("sample-totals") + " " + sample();
		set(document.getElementById("trials-filter"), "outlier");
		answer.noted = [...document.querySelectorAll("#trials tbody tr")]
			.map((r) => r.lastChild.textContent.replaceAll(";", ",")).join(" | ");
		set(document.getElementById("trials-filter"), "");
	}
	const select = document.querySelector("select[data-filter=\"param.cc\"]");
	if (select) {
		set(select, "bbr");
		answer.filtered = text("parallel-count");
		set(document.querySelector("input[data-filter=\"param.streams\"]"), "99999");
		answer.none = text("parallel-count");
		const search = document.getElementById("trials-filter");
		answer.samples = text("trials-count");
		set(search, "bbr");
		answer.found = text("trials-count");
		answer.only = [...document.querySelectorAll("#trials tbody tr")].every((r) => r.textContent.includes("bbr"));
		set(search, "");
		const head = [...document.querySelectorAll("#trials th button")][4];
		head.focus();
		head.click();
		head.click();
		const column = [...document.querySelectorAll("#trials tbody tr")].map((r) => r.cells[0].textContent);
		answer.sorted = head.parentNode.getAttribute("aria-sort") + " " + (column[0] !== "1");
		const beside = document.getElementById("heat-numbers");
		beside.open = true;
	}
	setTimeout(() => {
		answer.table = document.querySelectorAll("#heat-numbers tbody tr").length;
		document.title = "ANSWER " + Object.entries(answer).map(([k, v]) => k + "=" + v).join("; ") + ";";
	}, 100);
}, 50));</script>'

# look FILE WIDTH [FLAG...]: the answers in $work/answer, console lines in $work/console
look() {
	local file=$1 width=$2
	shift 2
	{ sed -n '1,/<head>/p' "$file" && echo "$before" && sed '1,/<head>/d' "$file" && echo "$behind"; } >"$work/page.html"
	rm -rf "$work/browser"
	"${browse[@]}" --window-size="$width,1500" --enable-logging=stderr --virtual-time-budget=20000 "$@" \
		--dump-dom "file://$work/page.html" >"$work/dom" 2>"$work/log"
	grep -o '<title>ANSWER [^<]*' "$work/dom" >"$work/answer"
	grep -F CONSOLE "$work/log" >"$work/console"
}
field() { sed -n "s/.* $1=\([^;]*\);.*/\1/p" "$work/answer"; }

check "a sweep to look at" "$tunesweep" run "$work/spec.yaml" -o "$work/run" --store "$work/run.db"
# One more where a sample lies far from the others, as the text says.
charts=$((5 + $("$tunesweep" report latest --store "$work/run.db" | grep -c '^Samples far from')))
for view in "desktop 1280" "phone 390" "dark 1280 --blink-settings=preferredColorScheme=0"; do
	# shellcheck disable=SC2086
	set -- $view
	look "$work/run/report.html" "${@:2}"
	same "$1: charts are there" $charts "$(field charts)"
	same "$1: none is empty" "" "$(field empty)"
	same "$1: no fault" 0 "$(field faults)"
	same "$1: nothing fetched" 0 "$(field fetched)"
	same "$1: nothing on the console" "" "$(cat "$work/console")"
	same "$1: no wider than the window" false "$(field wide)"
done
same "in the dark: what is printed is dark on white" "#1a1a1a" "$(field paper)"
same "in the dark: the screen stays as it is" "#e6e6e6" "$(field screen)"
total=$(field all | sed 's/.* of \([0-9]*\) .*/\1/')
check "filter by a word leaves some" test "$(field filtered | cut -d' ' -f1)" -lt "$total"
check "filter by a word leaves not none" test "$(field filtered | cut -d' ' -f1)" -gt 0
same "filter by a number that nothing reaches" "0 of $total configurations" "$(field none)"
check "the table of samples filters" test "$(field found | cut -d' ' -f1)" -lt "$(field samples | cut -d' ' -f1)"
same "the table shows only what was looked for" true "$(field only)"
same "the table sorts" "descending true" "$(field sorted)"
check "a table stands beside the map" test "$(field table)" -gt 5

# Samples far from the others, and what was dropped when: of a proof's samples, all alike, the fifth
# gets half the throughput, other programs on its CPUs and two bursts of losses; the seventh fails.
cat >"$work/odd.yaml" <<'END'
tunesweep: 1
name: odd-test
test: {engine: simulated, surface: table, noise: 1%}
tunables:
  - {set: param.tcp_wmem, type: int, range: [16384, 1048576], scale: log, default: 131072}
  - {set: param.tcp_rmem, type: int, range: [16384, 1048576], scale: log, default: 131072}
search: {algorithm: sobol, samples: 30, time: 60s, seed: 2}
proof: {pairs: 30, time: 20s}
END
check "a sweep with a proof" "$tunesweep" run "$work/odd.yaml" --store "$work/odd.db" -o "$work/odd"
python3 - "$work/odd.db" <<'END'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE sample SET throughput = 1e9, service_demand = 2 WHERE trial IN"
           " (SELECT id FROM trial WHERE phase = 'proof')")
rows = db.execute("SELECT p.id, p.trial FROM sample p JOIN trial t ON t.id = p.trial ORDER BY p.id").fetchall()
trial = max(rows, key=lambda r: sum(q[1] == r[1] for q in rows))[1]
for at, number in enumerate([r[0] for r in rows if r[1] == trial] + [rows[0][0]]):
    odd = at == 4
    counts = {"begins": 0.25, "t": [0.5, 1.0, 1.5], "TcpOutSegs": [9, 9, 9]}
    bad = {n: [0, 7, 40] for n in ("TcpRetransSegs", "rx_drops", "softnet_drops", "UdpInErrors",
                                   "IpReasmFails", "TcpExtPruneCalled")}
    host = {"seconds": 2, "cpus": 2, "cpu_self": 0.5, "cpu_busy": 3 if odd else 0.6, "counters": {},
            "counter_series": dict(counts, **bad) if odd else counts}
    detail = {"sender": host, "window_start": 2,
              "intervals": [[i / 4, i * 31250000, 100, 65536] for i in range(9)]}
    db.execute("UPDATE sample SET more = json_set(coalesce(more, '{}'), '$.detail', json(?))"
               " WHERE id = ?", (json.dumps(detail), number))
    if odd:
        db.execute("UPDATE sample SET throughput = 5e8 WHERE id = ?", (number,))
    if at == 6:
        db.execute("UPDATE sample SET ok = 0, throughput = NULL, more = json_set(more, '$.reason',"
                   " 'taken away by the test') WHERE id = ?", (number,))
db.commit()
END
check "that report" "$tunesweep" report latest --store "$work/odd.db" --format html -o "$work/odd.html"
why="62 % of the CPUs were others' (2 % in the median sample)"
for view in "desktop 1280" "narrow 400" "dark 1280 --blink-settings=preferredColorScheme=0"; do
	# shellcheck disable=SC2086
	set -- $view
	look "$work/odd.html" "${@:2}"
	contains "odd, $1: an outlier and a failure are counted" <(field marked) "ringed, kept and counted. 1 failed"
	same "odd, $1: one ring, one cross" 1,1 "$(field marks)"
	same "odd, $1: one is noted in the table" "outlier, kept: throughput -50 %, $why" "$(field noted)"
	contains "odd, $1: what was lost is told" <(field totals) "sent again (sender): 47, dropped on arrival (sender): 47"
	same "odd, $1: when it was lost" "1 s: 7,1.5 s: 40" "$(field first)"
	same "odd, $1: many counters are folded" "7 8" "$(field folded) $(field unfolded)"
	same "odd, $1: a sample without losses has none drawn" "Nothing was lost or held up. 2" "$(field quiet)"
	same "odd, $1: none is empty" "" "$(field empty)"
	same "odd, $1: no fault" 0 "$(field faults)"
	same "odd, $1: no wider than the window" false "$(field wide)"
	same "odd, $1: nothing on the console" "" "$(cat "$work/console")"
done
"$tunesweep" report latest --store "$work/odd.db" >"$work/odd.txt"
contains "the text names it, too" "$work/odd.txt" "$why"

# Many samples: 10,000 open in under 3 s. Counted as CPU time over that of an empty page, since
# other tests run beside this one.
cpu_of() {
	local TIMEFORMAT='%U %S'
	rm -rf "$work/browser"
	{ time "${browse[@]}" --window-size=1280,1500 --dump-dom "file://$1" >/dev/null 2>&1; } 2>&1 |
		tail -n 1 | awk '{ print 1000 * ($1 + $2) }'
}
awk 'BEGIN { srand(3); split("cubic bbr reno", c, " ")
	print "throughput,service_demand,param.tcp_wmem,param.tcp_rmem,param.cc,param.streams"
	for (i = 0; i < 10000; i++)
		printf "%.0f,%.4f,%d,%d,%s,%d\n", 1e9 + rand() * 2e9, 0.3 + rand(), 16384 * exp(rand() * 4),
			16384 * exp(rand() * 4), c[1 + int(rand() * 3)], 1 + int(rand() * 16) }' >"$work/large.csv"
check "10,000 samples imported" "$tunesweep" import "$work/large.csv" --store "$work/large.db"
check "10,000 samples as HTML" "$tunesweep" report latest --store "$work/large.db" --format html -o "$work/large.html"
echo "<html><body>x</body></html>" >"$work/empty.html"
for i in 1 2 3; do
	echo "$(cpu_of "$work/large.html") $(cpu_of "$work/empty.html")"
done | awk '{ printf "%d\n", $1 - $2 }' | sort -n >"$work/opened"
opened=$(sed -n 2p "$work/opened")
check "10,000 samples open in under 3 s of CPU time (${opened:-?} ms)" test "${opened:-99999}" -lt 3000
look "$work/large.html" 1280
same "10,000 samples: none is empty" "" "$(field empty)"
same "10,000 samples are all there" 10000 "$(field samples | sed 's/.* of \([0-9]*\) .*/\1/')"

# The timeline's picture.
data=$(dirname "$0")/../data/ipoib-kernel-timeline.csv
check "import" "$tunesweep" import "$data" --store "$work/timeline.db"
check "timeline as HTML" "$tunesweep" timeline --store "$work/timeline.db" --format html -o "$work/timeline.html"
look "$work/timeline.html" 1280
same "timeline: two charts" 2 "$(field charts)"
same "timeline: none is empty" "" "$(field empty)"
same "timeline: no fault" 0 "$(field faults)"
done_testing
