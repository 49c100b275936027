// SPDX-License-Identifier: GPL-3.0-or-later
// What single samples tell: which of them lie far from the others or failed, one over time with what
// was dropped or sent again meanwhile, and its CPUs. What a sample was is decided elsewhere.
"use strict";

// By sample: {kept, notes: [text]}, of those that lie far from the others and of those that failed.
function readMarks() {
	const all = new Map();
	for (const o of data.outliers || []) {
		const mark = all.get(o.sample) || {kept: true, notes: []};
		const off = `${o.metric} ${o.percent > 0 ? "+" : ""}${Math.round(o.percent)} %`;
		mark.notes.push([off, ...o.why].join("; "));
		all.set(o.sample, mark);
	}
	for (const [reason, samples] of Object.entries(data.failures || {})) {
		samples.forEach((s) => all.set(s, {kept: false, notes: [reason]}));
	}
	return all;
}

const marks = data.kind === "run" ? readMarks() : new Map();

function noteOf(sample) {
	const mark = marks.get(sample);
	return mark ? (mark.kept ? "outlier, kept: " : "left out: ") + mark.notes.join(". ") : "";
}

// All samples by number, so that the odd ones are seen; nothing where there are none.
function drawMarked(rows) {
	const far = rows.filter((r) => r.throughput !== null && marks.get(r.sample)?.kept),
	      failed = rows.filter((r) => marks.get(r.sample)?.kept === false),
	      good = rows.filter((r) => r.ok && r.throughput !== null);
	if (!far.length && !failed.length) {
		return null;
	}
	const floor = range(good.map((r) => r.throughput))[0];
	const at = (r) => ({x: r.sample, y: r.ok ? r.throughput : floor, sample: r.sample});
	const set = (label, list, color, extra) => Object.assign(
		point(label, list.map(at), color,
		      {pointRadius: good.length > 2000 ? 1.5 : 3, backgroundColor: color}),
		extra);
	const p = picture(
		"marked", "Outliers and failures",
		`${far.length} of ${rows.length} samples lie far from the others of their trial: ` +
			`ringed, kept and counted. ${failed.length} failed: crosses, left out.`,
		true,
		() => ({
			type: "scatter",
			data: {
				datasets: [
					set("outlier", far, ink().mark, {
						pointRadius: 7,
						borderWidth: 2,
						backgroundColor: "transparent"
					}),
					set("failed", failed, ink().mark, {
						pointRadius: 6,
						borderWidth: 2,
						pointStyle: "crossRot"
					}),
					set("proof", good.filter((r) => r.phase === "proof"),
					    ink().two),
					set("others", good.filter((r) => r.phase !== "proof"),
					    ink().plain)
				]
			},
			options: {
				parsing: false,
				scales: {
					x: {title: {display: true, text: "sample"}},
					y: {
						title: {display: true, text: "throughput"},
						ticks: {callback: rate}
					}
				},
				plugins: {
					legend: {labels: {usePointStyle: true}},
					tooltip: {
						callbacks: {
							label: (i) =>
								[`sample ${i.raw.sample}: ${
									 rate(i.raw.y)}`,
								 noteOf(i.raw.sample)]
									.filter(Boolean)
						}
					}
				}
			}
		}),
		() => [["sample", "trial", "phase", "throughput", "why"],
		       [...far, ...failed].slice(0, SHOWN).map(
			       (r) => [r.sample, r.trial, r.phase, rate(r.throughput),
				       noteOf(r.sample)])]);
	p.box.classList.add("low");
	return p;
}

// Rates between the reads of a sample: [[seconds, bytes, rtt us, cwnd bytes], ...]. Where one read
// follows at once upon another (a window begins), what was between them is no rate.
function series(detail) {
	const all = Array.isArray(detail.intervals) ? detail.intervals.filter(Array.isArray) : [];
	const usual = median(all.slice(1).map((r, i) => r[0] - all[i][0]));
	const reads = all.map((r, i) => ({r, i})).filter(
		({r, i}) => i + 1 === all.length || all[i + 1][0] - r[0] > usual / 5);
	return reads.slice(1)
		.map(({r, i}, before) => ({
			     t: r[0],
			     rate: (r[1] - reads[before].r[1]) * 8 / (r[0] - reads[before].r[0]),
			     rtt: r[2],
			     cwnd: r[3],
			     warm: i <= (detail.window_start || 0)
		     }))
		.filter((r) => Number.isFinite(r.rate));
}

// Counters that grow when all is well; all others say that something was lost or held up. Those with
// words of their own come first.
const traffic = ["begins", "t", "rx_bytes", "rx_packets", "tx_bytes", "tx_packets", "TcpOutSegs"];
const words = {
	TcpRetransSegs: "sent again",
	TcpExtTCPTimeouts: "timeouts",
	rx_drops: "dropped on arrival",
	softnet_drops: "input queue full",
	tx_drops: "dropped on sending",
	UdpRcvbufErrors: "buffer full",
	rx_pause: "pauses received",
	tx_pause: "pauses sent",
	softnet_squeezed: "softirq cut short",
	TcpExtTCPLossProbes: "loss probes"
};

// What grew and when: [{name, host, total, points: [[seconds, growth], ...]}, ...].
function troubles(detail) {
	const found = [], order = Object.keys(words);
	for (const host of ["sender", "receiver"]) {
		const s = detail[host] && detail[host].counter_series;
		const first = (detail.intervals || [])[detail.window_start || 0];
		const begins = s && typeof s.begins === "number" ? s.begins : first ? first[0] : 0;
		for (const key of Object.keys(s || {}).filter((k) => !traffic.includes(k))) {
			const t = [0, ...s.t].map((x) => x + begins);
			const points = Array.isArray(s[key])
					       ? s[key].map((n, i) => [(t[i] + t[i + 1]) / 2, n])
							 .filter(([, n]) => n > 0)
					       : [];
			if (points.length) {
				found.push({
					name: words[key] || key.replace(/^TcpExt/, ""),
					rank: order.indexOf(key) + 1 || order.length + 1,
					host,
					total: points.reduce((sum, [, n]) => sum + n, 0),
					points
				});
			}
		}
	}
	return found.sort((a, b) => a.rank - b.rank);
}

const ROWS = 5; // of troubles, before more are asked for
const CURVES_REM = [13, 7], ROW_REM = 2.4; // heights

// Panels on one time axis, throughput on top: their labels are equally wide.
const panel = (rem, more) => ({
	axis: "y",
	position: "left",
	stack: "panels",
	stackWeight: rem,
	afterFit: (axis) => {
		axis.width = 116;
	},
	...more
});

// The lowest panel: a row a counter, a square where it grew, larger the more.
function strip(list) {
	return panel(ROW_REM * list.length, {
		min: -0.6, // ticks stand at whole numbers
		max: list.length - 0.4,
		reverse: true,
		grid: {drawTicks: false},
		ticks: {
			stepSize: 1,
			autoSkip: false,
			includeBounds: false,
			callback: (x) => (list[x] ? [list[x].name, list[x].host] : "")
		}
	});
}

function squares(list) {
	return list.map((row, i) => ({
				label: `${row.name}, ${row.host}`,
				type: "scatter",
				yAxisID: "rows",
				data: row.points.map(([x, n]) => ({x, y: i, n})),
				pointStyle: "rect",
				pointRadius: row.points.map(
					([, n]) => Math.min(9, 3 + 2 * Math.log10(n))),
				backgroundColor: ink().mark,
				borderColor: ink().mark
			}));
}

function curves(s) {
	const xy = (key) => s.map((r) => ({x: r.t, y: r[key] ?? null}));
	const warm = (color) => (c) => (s[c.p1DataIndex].warm ? color : undefined);
	return [
		{
			label: "throughput",
			data: xy("rate"),
			borderColor: ink().one,
			backgroundColor: ink().one,
			segment: {borderColor: warm(ink().plain), borderDash: warm([4, 4])},
			pointRadius: 2,
			yAxisID: "y"
		},
		{
			label: "congestion window",
			data: xy("cwnd"),
			borderColor: ink().three,
			backgroundColor: ink().three,
			pointRadius: 0,
			stepped: true,
			yAxisID: "window"
		}
	];
}

function sampleScales(list) {
	return {
		x: {type: "linear", title: {display: true, text: "seconds"}},
		...(list.length ? {rows: strip(list)} : {}),
		window: panel(CURVES_REM[1], {
			beginAtZero: true,
			ticks: {
				maxTicksLimit: 4, // the topmost would stand in the panel above
				callback: (x, i, ticks) =>
					i + 1 < ticks.length ? `${Math.round(x / 1024)} KiB` : ""
			}
		}),
		y: panel(CURVES_REM[0], {beginAtZero: true, ticks: {callback: rate}})
	};
}

const told = (list) => list.map((r) => `${r.name} (${r.host}): ${digits(r.total)}`).join(", ");

function drawSample() {
	const usable = data.details.filter((d) => series(d.detail).length > 1);
	if (!usable.length) {
		return null;
	}
	let select, more;
	const chosen = () => usable[Number(select.value)].detail;
	const shown = () => troubles(chosen()).slice(0, more.checked ? Infinity : ROWS);
	const between = (from, to) => troubles(chosen()).map((r) => ({
		...r,
		total: r.points.filter(([x]) => x > from && x <= to).reduce((sum, [, n]) => sum + n, 0)
	})).filter((r) => r.total);
	const p = picture(
		"sample", "One sample over time",
		"Throughput and congestion window in each interval of a sample, its warm-up dashed; " +
			"below, a square wherever packets were lost, sent again or held up, larger the more.",
		true,
		() => {
			const all = troubles(chosen()), list = shown();
			p.box.style.height = `${CURVES_REM[0] + CURVES_REM[1] + 4 + ROW_REM * list.length}rem`;
			more.parentNode.hidden = all.length <= ROWS;
			totals.textContent = all.length ? told(all) : "Nothing was lost or held up.";
			return {
				type: "line",
				data: {datasets: [...curves(series(chosen())), ...squares(list)]},
				options: {
					parsing: false,
					scales: sampleScales(list),
					plugins: {
						legend: {labels: {filter: (i) => i.datasetIndex < 2}},
						tooltip: {
							callbacks: {
								label: (i) => `${i.dataset.label}: ${
									i.raw.n ?? digits(i.raw.y)}`
							}
						}
					}
				}
			};
		},
		() => {
			const s = series(chosen());
			return [["seconds", "throughput", "rtt us", "cwnd", "lost or held up"],
				s.map((r, i) => [r.t, rate(r.rate), r.rtt, r.cwnd,
						 told(between(i ? s[i - 1].t : -Infinity, r.t))])];
		});
	select = choice(p.tools, "sample", usable.map((d, i) => [String(i), d.title]), "0", p.draw);
	more = make("input", {type: "checkbox", id: "sample-all"});
	more.addEventListener("change", p.draw);
	p.tools.append(make("label", {}, more, "all counters"));
	const totals = make("p", {id: "sample-totals", className: "sub"});
	p.box.after(totals);
	return p;
}

// CPU by core of a sample, where its engine has counted it: {host: [busy fraction, ...]}.
function cores(detail) {
	return ["sender", "receiver"]
		.map((h) => [h, detail[h] && detail[h].per_cpu])
		.filter(([, c]) => Array.isArray(c) && c.length);
}

function drawCores() {
	const usable = data.details.filter((d) => cores(d.detail).length);
	if (!usable.length) {
		return null;
	}
	let select;
	const chosen = () => cores(usable[Number(select.value)].detail);
	const p = picture(
		"cores", "CPU by core",
		"Busy share of each CPU during one sample: one that is full limits all.", false,
		() => {
			const hosts = chosen(), most = Math.max(...hosts.map(([, c]) => c.length));
			return {
				type: "bar",
				data: {
					labels: Array.from({length: most},
							   (unused, i) => "CPU " + i),
					datasets: hosts.map(
						([h, c], i) => ({
							label: h,
							data: c,
							backgroundColor: i ? ink().three : ink().one
						}))
				},
				options: {
					scales: {
						y: {
							min: 0,
							max: 1,
							ticks: {
								callback: (x) =>
									Math.round(100 * x) + " %"
							}
						}
					}
				}
			};
		},
		() => [["host", "busy share by CPU"],
		       chosen().map(([h, c]) => [h, c.map(digits).join(", ")])]);
	select = choice(p.tools, "sample", usable.map((d, i) => [String(i), d.title]), "0", p.draw);
	return p;
}
