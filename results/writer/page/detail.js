// SPDX-License-Identifier: GPL-3.0-or-later
// All tunables at once with a filter, the table of samples, and the timeline; then the start: what
// is drawn for which data.
"use strict";

const LINES = 300; // lines that are drawn: the best, and the best of what is filtered

function drawParallel(all, metric) {
	const ranked = all.filter((c) => c[metric] !== null).sort((a, b) => b[metric] - a[metric]);
	const axes = data.tunables.map((t, i) => axisOf(i, ranked));
	const results = ["throughput", "service_demand", "score"].filter(
		(m) => ranked.some((c) => c[m] !== null));
	const last = results.map((m) => axisOf(0, ranked.map((c) => ({values: [c[m]]}))));
	const filters = data.tunables.map(() => null);
	const passes = (c) => filters.every((f, i) => !f || f(c.values[i]));
	const chosen = () => ranked.filter(passes);
	const labels = [
		...data.tunables.map((t, i) => [shorter(t), `${axes[i].text(axes[i].low)} .. ${
								    axes[i].text(axes[i].high)}`]),
		...results.map((m, i) => [m, `${show(m, last[i].low)} .. ${show(m, last[i].high)}`])
	];
	const count = make("span", {id: "parallel-count"});
	const line = (c, color, width) => ({
		data: [
			...c.values.map((v, i) => place(axes[i], v)),
			...results.map((m, i) => place(last[i], c[m]))
		],
		borderColor: color,
		borderWidth: width,
		pointRadius: 0,
		pointHitRadius: 4
	});
	const p = picture(
		"parallel", "All tunables at once",
		`Each line is a configuration, from its values to its results; the best ` +
			`${LINES} are drawn, yellow the best. Filter by value to see which of them remain.`,
		true,
		() => {
			const inside = chosen(), color = inside.slice(0, LINES),
			      filtered = inside.length < ranked.length;
			const low = color.length ? color[color.length - 1][metric] : 0,
			      high = color.length ? color[0][metric] : 1;
			const grey =
				filtered ? ranked.filter((c) => !passes(c)).slice(0, LINES) : [];
			count.textContent = `${inside.length} of ${ranked.length} configurations`;
			return {
				type: "line",
				data: {
					labels,
					datasets: [
						...color.map(
							(c) => line(
								c,
								heat(high > low
									     ? (c[metric] - low) /
										       (high - low)
									     : 1,
								     0.8),
								1.5)),
						...grey.map((c) => line(c, ink().faint, 1))
					]
				},
				options: {
					spanGaps: true,
					scales: {
						y: {
							min: -0.03,
							max: 1.03,
							ticks: {display: false},
							grid: {display: false}
						},
						x: {
							grid: {display: true},
							ticks: {autoSkip: false, maxRotation: 70}
						}
					},
					plugins: {
						legend: {display: false},
						tooltip: {enabled: false}
					}
				}
			};
		},
		() => [[...data.tunables, ...results],
		       chosen().slice(0, LINES).map(
			       (c) => [...c.values, ...results.map((m) => c[m])])]);
	data.tunables.forEach((t, i) => addFilter(p, t, axes[i], (f) => {
				      filters[i] = f;
				      p.draw();
			      }));
	p.tools.append(count);
	return p;
}

function addFilter(p, tunable, axis, changed) {
	if (axis.words) {
		const select = choice(
			p.tools, shorter(tunable), [["", "any"], ...axis.words.map((w) => [w, w])],
			"", () => changed(select.value ? (v) => String(v) === select.value : null));
		select.dataset.filter = tunable;
		return;
	}
	const low = make("input", {type: "number", step: "any", placeholder: digits(axis.low)}),
	      high = make("input", {type: "number", step: "any", placeholder: digits(axis.high)});
	low.setAttribute("aria-label", tunable + " at least");
	high.setAttribute("aria-label", tunable + " at most");
	low.dataset.filter = tunable;
	const update = () => changed(
		low.value === "" && high.value === ""
			? null
			: (v) => v !== null && (low.value === "" || v >= Number(low.value)) &&
				 (high.value === "" || v <= Number(high.value)));
	low.addEventListener("input", update);
	high.addEventListener("input", update);
	p.tools.append(make("label", {}, shorter(tunable), low, "to", high));
}

function trialTable(rows) {
	const heads = [
		"sample", "trial", "phase", "score", "throughput", "us/KB",
		...data.tunables.map(shorter), ...(marks.size ? ["notes"] : [])
	];
	const cells = rows.map((r) => [r.sample, r.trial, r.ok ? r.phase : r.phase + ", failed",
				       r.score, r.throughput, r.service_demand, ...r.values,
				       ...(marks.size ? [noteOf(r.sample)] : [])]);
	const texts = cells.map((c) => c.map((x, i) => (i === 4 ? rate(x) : digits(x))));
	let by = 0, down = false;
	const filter = make(
		"input",
		{type: "search", id: "trials-filter", placeholder: "e.g. cubic, failed, outlier"});
	const count = make("span", {id: "trials-count"}), body = make("tbody");
	filter.setAttribute("aria-label", "show only samples that contain");
	const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b
				   : a === null					  ? 1
				   : b === null					  ? -1
						: String(a).localeCompare(String(b)));
	const buttons = heads.map((h, i) => make("button", {
					  type: "button",
					  onclick: () => {
						  down = by === i ? !down : false;
						  by = i;
						  update();
					  }
				  },
						 h));
	function update() {
		const words = filter.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
		const kept =
			texts.map((t, i) => i)
				.filter((i) => words.every(
						(w) => texts[i].join(" ").toLowerCase().includes(
							w)));
		kept.sort((a, b) => (down ? -1 : 1) * compare(cells[a][by], cells[b][by]) || a - b);
		buttons.forEach(
			(b, i) => b.parentNode.setAttribute("aria-sort", i !== by ? "none"
									 : down	  ? "descending"
										  : "ascending"));
		count.textContent = `${kept.length} of ${rows.length} samples` +
				    (kept.length > SHOWN ? `, the first ${SHOWN} shown` : "");
		body.replaceChildren(...kept.slice(0, SHOWN).map(
			(i) => make("tr", {},
				    ...texts[i].map(
					    (t, j) => make("td", {
						    className: typeof cells[i][j] === "number" ? "n"
											       : ""
					    },
							   t)))));
	}
	filter.addEventListener("input", update);
	const head = make("tr", {}, ...buttons.map((b) => make("th", {scope: "col"}, b)));
	page.append(make(
		"figure", {id: "trials", className: "wide"}, make("h2", {}, "Samples"),
		make("div", {className: "tools"}, make("label", {}, "show only", filter), count),
		make("div", {className: "scroll", tabIndex: 0},
		     make("table", {}, make("thead", {}, head), body))));
	update();
}

function drawTimeline(t, i) {
	const named = (r) => r.labels.variant || r.labels.label || "";
	const groups = [...new Set(t.rows.map((r) => r.group))];
	const kinds = [...new Set(t.rows.map(
		(r) => [r.labels.driver, named(r)].filter(Boolean).join(", ") || "all"))];
	const of = (r) => [r.labels.driver, named(r)].filter(Boolean).join(", ") || "all";
	const title =
		Object.entries(t.labels).map(([k, v]) => `${k}: ${v}`).join(", ") || "Results";
	return picture(
		"timeline" + i, title,
		`Median throughput by ${
			data.by}; large red points are changes by more than chance.`,
		true,
		() => {
			const colors = [ink().one, ink().two, ink().three, ink().plain];
			return {
				type: "line",
				data: {
					labels: groups,
					datasets: kinds.map((k, n) => {
						const rows = groups.map(
							(g) => t.rows.find((r) => r.group === g &&
										  of(r) === k));
						return {
							label: k,
							data: rows.map(
								(r) => (r ? r.throughput : null)),
							spanGaps: true,
							borderColor: colors[n % 4],
							backgroundColor: rows.map(
								(r) => (r && r.changed
										? ink().mark
										: colors[n % 4])),
							pointRadius: rows.map(
								(r) => (r && r.changed ? 8 : 4)),
							borderDash: n % 4 === 3 ? [6, 4] : [],
							pointBackgroundColor: rows.map(
								(r) => (r && r.changed
										? ink().mark
										: colors[n % 4]))
						};
					})
				},
				options: {
					scales: {
						x: {
							ticks: {
								maxRotation: 70,
								autoSkip: groups.length > 60
							}
						},
						y: {
							ticks: {callback: rate},
							title: {display: true, text: "throughput"}
						}
					}
				}
			};
		},
		() => [[data.by, ...t.columns, "throughput", "changed"],
		       t.rows.map((r) => [r.group, ...t.columns.map((c) => r.labels[c] ?? ""),
					  rate(r.throughput), r.changed ? "<<<" : ""])]);
}

if (data.kind === "run") {
	const rows = readRows(), all = configurations(rows),
	      metric = rows.some((r) => r.score !== null) ? "score" : "throughput";
	if (rows.some((r) => r.ok && r[metric] !== null)) {
		drawBest(rows, metric);
		if (all.some((c) => c.throughput !== null && c.service_demand !== null)) {
			drawTrade(all);
		}
		if (data.tunables.length) {
			drawEffect(all, metric);
			drawHeat(all);
			drawParallel(all, metric);
		}
		drawMarked(rows);
		drawSample();
		drawCores();
	}
	trialTable(rows);
} else if (data.kind === "timeline") {
	data.tables.forEach(drawTimeline);
}
drawAll();
