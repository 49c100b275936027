// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of one sweep: best so far, throughput against service demand, what each tunable
// does, two of them as a map, all of them at once, and single samples over time.
"use strict";

// Rows come as arrays: [sample, trial, phase, ok, score, throughput, service_demand, values...].
const FIRST = 7;
const phases = ["baseline", "search", "proof", "import"];

function readRows() {
	return data.rows.map((r) => ({
				     sample: r[0],
				     trial: r[1],
				     phase: phases[r[2]] || "other",
				     ok: r[3] === 1,
				     score: r[4],
				     throughput: r[5],
				     service_demand: r[6],
				     values: r.slice(FIRST)
			     }));
}

// One point a configuration, with the medians of its samples.
function configurations(rows) {
	const by = new Map();
	for (const r of rows) {
		const key = JSON.stringify(r.values);
		if (!by.has(key)) {
			by.set(key, []);
		}
		by.get(key).push(r);
	}
	return [...by.values()].map((list) => {
		const good = list.filter((r) => r.ok),
		      c = {values: list[0].values, n: list.length, trial: list[0].trial};
		for (const m of ["score", "throughput", "service_demand"]) {
			c[m] = median(good.map((r) => r[m]).filter((x) => x !== null));
		}
		c.baseline = list.some((r) => r.phase === "baseline");
		return c;
	});
}

// A tunable as an axis: numbers as they are (log where they span much), words by their place.
function axisOf(t, rows) {
	const known = rows.map((r) => r.values[t]).filter((x) => x !== null);
	const words = known.some((x) => typeof x !== "number");
	if (words) {
		const list = [...new Set(known.map(String))].sort();
		return {
			words: list,
			at: (x) => (x === null ? null : list.indexOf(String(x))),
			log: false,
			low: 0,
			high: list.length - 1,
			text: (x) => list[Math.round(x)] ?? ""
		};
	}
	const [low, high] = range(known);
	return {
		words: null,
		at: (x) => x,
		low,
		high,
		log: low > 0 && high / low > 20,
		text: digits
	};
}

function place(axis, x) {
	const v = axis.at(x);
	if (v === null || axis.high === axis.low) {
		return v === null ? null : 0.5;
	}
	return axis.log ? Math.log(v / axis.low) / Math.log(axis.high / axis.low)
			: (v - axis.low) / (axis.high - axis.low);
}

function scale(axis, title) {
	const s = {
		type: axis.log ? "logarithmic" : "linear",
		title: {display: true, text: title},
		grace: axis.log ? 0 : "4%"
	};
	if (axis.words) {
		Object.assign(s, {
			min: -0.5,
			max: axis.words.length - 0.5,
			ticks: {
				stepSize: 1,
				callback: (x) => (Number.isInteger(x) ? axis.text(x) : "")
			}
		});
	} else {
		s.ticks = {callback: (x) => digits(x), maxRotation: 50};
	}
	return s;
}

const point = (label, list, color, extra) => Object.assign({
	label,
	data: list,
	backgroundColor: color,
	borderColor: color,
	pointRadius: list.length > 2000 ? 1.5 : 3
},
							   extra);

function drawBest(rows, metric) {
	const searched = rows.filter((r) => r.phase !== "proof" && r[metric] !== null && r.ok);
	const steps = [];
	let best = -Infinity;
	for (const r of searched) {
		if (r[metric] > best) {
			best = r[metric];
			steps.push({x: r.sample, y: best});
		}
	}
	if (steps.length) {
		steps.push({x: searched[searched.length - 1].sample, y: best});
	}
	const base = median(searched.filter((r) => r.phase === "baseline").map((r) => r[metric]));
	return picture("best", "Best so far", `The ${metric} of each sample, and the best one seen until then. One lucky ` +
		"sample is not yet a gain: that is what the proof is for.", false, () => ({type: "scatter",
		data: {datasets: [
			point("best so far", steps, ink().two, {type: "line", stepped: true, pointRadius: 2}),
			point("baseline", base === null ? [] : [{x: searched[0].sample, y: base},
				{x: searched[searched.length - 1].sample, y: base}], ink().mark,
			{type: "line", borderDash: [6, 4], pointRadius: 0}),
			point("samples", searched.map((r) => ({x: r.sample, y: r[metric]})), ink().plain)]},
		options: {parsing: false, scales: {x: {title: {display: true, text: "sample"}},
			y: {title: {display: true, text: metric}, ticks: {callback: (x) => show(metric, x)}}}}}),
	() => [["sample", "best " + metric], steps.map((s) => [s.x, s.y])]);
}

function front(list) {
	const sorted = [...list].sort((a, b) => a.service_demand - b.service_demand ||
						b.throughput - a.throughput);
	let best = -Infinity;
	return sorted.filter((c) => c.throughput > best && ((best = c.throughput), true));
}

function drawTrade(all) {
	const list = all.filter((c) => c.throughput !== null && c.service_demand !== null);
	const as = (c) => ({x: c.service_demand, y: c.throughput});
	const edge = front(list),
	      same = (c) => JSON.stringify(c.values) === JSON.stringify(data.best);
	return picture(
		"trade", "Throughput against CPU per KB",
		"One point a configuration; up and to the left is better. " +
			"Nothing that was measured beats the line in both.",
		false,
		() => ({
			type: "scatter",
			data: {
				datasets: [
					point("best", list.filter(same).map(as), ink().two,
					      {pointRadius: 8, pointStyle: "triangle"}),
					point("baseline", list.filter((c) => c.baseline).map(as),
					      ink().mark, {pointRadius: 8, pointStyle: "rectRot"}),
					point("Pareto front", edge.map(as), ink().one,
					      {type: "line", stepped: "after", pointRadius: 4}),
					point("configurations", list.map(as), ink().plain)
				]
			},
			options: {
				scales: {
					x: {title: {display: true, text: "service demand, us/KB"}},
					y: {
						title: {display: true, text: "throughput"},
						ticks: {callback: rate}
					}
				}
			}
		}),
		() => [["throughput", "us/KB", ...data.tunables],
		       edge.map((c) => [rate(c.throughput), c.service_demand, ...c.values])]);
}

// Middle half and median of the metric in groups of one tunable's values: each value, or quarters.
function groupsOf(list, t, metric) {
	const known = list.filter((c) => c[metric] !== null && c.values[t] !== null);
	const values = [...new Set(known.map((c) => c.values[t]))];
	const axis = axisOf(t, known.length ? known : [{values: data.tunables.map(() => 0)}]);
	values.sort((a, b) => axis.at(a) - axis.at(b));
	const parts =
		axis.words || values.length <= 6
			? values.map((v) => [v])
			: [0, 1, 2,
			   3].map((q) => values.slice(Math.floor(values.length * q / 4),
						      Math.floor(values.length * (q + 1) / 4)));
	return parts.map((part) => {
		const inside = new Set(part), x = known.filter((c) => inside.has(c.values[t]))
							  .map((c) => c[metric])
							  .sort((a, b) => a - b);
		const name = part.length > 1
				     ? `${digits(part[0])} to ${digits(part[part.length - 1])}`
				     : digits(part[0]);
		return {
			name,
			n: x.length,
			low: quantile(x, 0.25),
			middle: quantile(x, 0.5),
			high: quantile(x, 0.75)
		};
	});
}

function drawEffect(all, metric) {
	let select;
	const groups = () => groupsOf(all, Number(select.value), metric);
	const p = picture(
		"effect", "What each tunable does",
		"Bars hold the middle half of the configurations with this value " +
			"(others vary at the same time), dots their median.",
		false,
		() => {
			const g = groups();
			return {
				type: "bar",
				data: {
					labels: g.map((x) => x.name),
					datasets: [
						{
							label: "middle half",
							data: g.map((x) => [x.low, x.high]),
							backgroundColor: ink().one + "66",
							borderColor: ink().one,
							borderWidth: 1,
							borderSkipped: false
						},
						{
							label: "median",
							type: "line",
							showLine: false,
							data: g.map((x) => x.middle),
							pointRadius: 5,
							backgroundColor: ink().mark,
							borderColor: ink().mark
						}
					]
				},
				options: {
					scales: {
						x: {
							title: {
								display: true,
								text: data.tunables[Number(
									select.value)]
							}
						},
						y: {
							beginAtZero: false,
							title: {display: true, text: metric},
							ticks: {callback: (x) => show(metric, x)}
						}
					}
				}
			};
		},
		() => [["value", "configurations", "lower quarter", "median", "upper quarter"],
		       groups().map((x) => [x.name, x.n, x.low, x.middle, x.high])]);
	select = choice(p.tools, "tunable", data.tunables.map((t, i) => [String(i), shorter(t)]),
			"0", p.draw);
	return p;
}

const SHADES = 24;

// Points in datasets by colour: a colour a point would have each point's options worked out alone.
function shades(points, low, high) {
	const sets = Array.from({length: SHADES},
				(unused, i) => point("", [], heat(i / (SHADES - 1), 0.9), {
					pointRadius: points.length > 400 ? 4 : 9,
					pointStyle: "rect",
					borderWidth: 0
				}));
	for (const p of points) {
		const share = high > low ? (p.z - low) / (high - low) : 0.5;
		sets[Math.round(share * (SHADES - 1))].data.push(p);
	}
	return sets;
}

function drawHeat(all) {
	if (data.tunables.length < 2) {
		return null;
	}
	let sx, sy, sm;
	const list = () => all.filter((c) => c[sm.value] !== null);
	const p = picture(
		"heat", "Two tunables as a map",
		"Each point is a configuration; its colour is what was measured there.", false,
		() => {
			const x = Number(sx.value), y = Number(sy.value), points = list(),
			      z = points.map((c) => c[sm.value]);
			const [low, high] = range(z), ax = axisOf(x, points),
				    ay = axisOf(y, points);
			legend.textContent =
				z.length ? ` ${show(sm.value, low)} to ${show(sm.value, high)}`
					 : " nothing measured";
			return {
				type: "scatter",
				data: {
					datasets: shades(points.map((c) => ({
									    x: ax.at(c.values[x]),
									    y: ay.at(c.values[y]),
									    z: c[sm.value]
								    })),
							 low, high)
				},
				options: {
					scales: {
						x: scale(ax, data.tunables[x]),
						y: scale(ay, data.tunables[y])
					},
					plugins: {
						legend: {display: false},
						tooltip: {
							callbacks: {
								label: (i) =>
									show(sm.value, i.raw.z)
							}
						}
					}
				}
			};
		},
		() => [[data.tunables[sx.value], data.tunables[sy.value], sm.value],
		       list().map((c) => [c.values[sx.value], c.values[sy.value], c[sm.value]])]);
	const names = data.tunables.map((t, i) => [String(i), shorter(t)]);
	const at = (word) => data.tunables.findIndex((t) => t.includes(word));
	const first = Math.max(0, at("tcp_rmem")), wish = at("tcp_wmem"),
	      second = wish >= 0 && wish !== first ? wish : (first + 1) % names.length;
	sx = choice(p.tools, "across", names, String(first), p.draw);
	sy = choice(p.tools, "up", names, String(second), p.draw);
	sm = choice(p.tools, "colour",
		    ["throughput", "score", "service_demand"]
			    .filter((m) => all.some((c) => c[m] !== null))
			    .map((m) => [m, m]),
		    "throughput", p.draw);
	const legend = make("span", {id: "heat-legend"});
	p.tools.append(make("span", {}, make("span", {className: "ramp"}), legend));
	return p;
}
