// SPDX-License-Identifier: GPL-3.0-or-later
// What the pictures share: elements, numbers for people, colours, a chart with a table beside it.
// Not a chart library: that is Chart.js. Runs once, when a report is opened.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("pictures");
const dark = matchMedia("(prefers-color-scheme: dark)");
const charts = [];
const SHOWN = 500; // rows of a table
let printing = false;

// An element with properties and children; text is text, never markup.
function make(tag, properties, ...children) {
	const e = Object.assign(document.createElement(tag), properties);
	e.append(...children);
	return e;
}

function digits(x) {
	if (x === null || x === undefined || x === "") {
		return "-";
	}
	if (typeof x !== "number") {
		return String(x);
	}
	if (Number.isInteger(x) && Math.abs(x) < 1e15) {
		return String(x);
	}
	const short = Number(x.toPrecision(4));
	return Math.abs(short) >= 1e4 && Math.abs(short) < 1e15 ? String(Math.round(short))
								: String(short);
}

function rate(x) {
	const units = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
	let i = 0;
	if (typeof x !== "number") {
		return "-";
	}
	while (i < 4 && Math.abs(x) >= 999.95) {
		x /= 1000;
		i++;
	}
	return Number(x.toPrecision(4)) + " " + units[i];
}

const show = (metric, x) => (metric === "throughput" ? rate(x) : digits(x));

// "net.ipv4.tcp_rmem.max@receiver" as "tcp_rmem.max@receiver": the axis is narrow.
const shorter = (key) => key.replace(/^net\.(ipv4|core)\./, "");

function quantile(sorted, q) {
	const at = (sorted.length - 1) * q, low = Math.floor(at), high = Math.ceil(at);
	return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

const range = (list) => list.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)],
				    [Infinity, -Infinity]);

const median = (list) => (list.length ? quantile([...list].sort((a, b) => a - b), 0.5) : null);

// From low (violet) to high (yellow), as the ramp in the style sheet.
function heat(share, alpha = 1) {
	const s = Math.min(1, Math.max(0, share)),
	      hue = s < 0.5 ? 250 - 160 * s : 170 - 220 * (s - 0.5);
	return `hsla(${hue}, ${s < 0.5 ? 70 : 70 + 30 * (s - 0.5)}%, ${45 - 6 * s + 11 * s * s}%, ${
		alpha})`;
}

function ink() {
	return dark.matches && !printing ? {
		text: "#e6e6e6",
		line: "#3a3d44",
		plain: "#8b93a1",
		one: "#6cb2f5",
		two: "#4ac26b",
		three: "#f0a35e",
		mark: "#ff7b72",
		faint: "rgba(200,205,215,.12)"
	}
			    : {
				      text: "#1a1a1a",
				      line: "#d4d4d8",
				      plain: "#6b7280",
				      one: "#0b5cad",
				      two: "#1a7f37",
				      three: "#b45309",
				      mark: "#c1121f",
				      faint: "rgba(60,65,75,.12)"
			      };
}

function theme() {
	Chart.defaults.color = ink().text;
	Chart.defaults.borderColor = ink().line;
}

// A table of rows of plain cells; what is a number stands right.
function table(heads, rows) {
	const body = make("tbody");
	for (const row of rows) {
		const tr = make("tr");
		row.forEach((cell) => tr.append(
				    make("td", {className: typeof cell === "number" ? "n" : ""},
					 digits(cell))));
		body.append(tr);
	}
	const head = make("tr", {}, ...heads.map((h) => make("th", {scope: "col"}, h)));
	const t = make("table", {}, make("thead", {}, head), body);
	return make("div", {className: "scroll", tabIndex: 0}, t);
}

// A picture: heading, caption, tools, chart, and its numbers as a table that is made when opened.
// config(): Chart.js configuration; numbers(): [heads, rows]. Returns {draw, tools}.
function picture(id, heading, caption, wide, config, numbers) {
	const canvas = make("canvas", {id: id + "-chart"});
	const tools = make("div", {className: "tools"});
	const beside = make("details", {id: id + "-numbers"},
			    make("summary", {}, "The numbers of this picture"));
	const about = make("figcaption", {}, caption);
	const box = make("div", {className: "chart"}, canvas);
	const figure = make("figure", {id, className: wide ? "wide" : ""}, make("h2", {}, heading),
			    about, tools, box, beside);
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label",
			    heading + ". " + caption + " The numbers follow as a table.");
	page.append(figure);
	let chart = null;
	const fill = () => {
		if (beside.open) {
			while (beside.children.length > 1) {
				beside.lastChild.remove();
			}
			beside.append(table(...numbers()));
		}
	};
	beside.addEventListener("toggle", fill);
	const draw = () => {
		const c = config();
		if (chart) {
			chart.destroy();
		}
		c.options = Object.assign(
			{animation: false, maintainAspectRatio: false, responsive: true},
			c.options);
		chart = new Chart(canvas, c);
		fill();
	};
	charts.push(draw);
	return {draw, tools, box, figure, chart: () => chart};
}

// A labelled selection; choices: [[value, text], ...].
function choice(tools, label, choices, chosen, changed) {
	const select =
		make("select", {},
		     ...choices.map(([value, text]) => make(
					    "option", {value, selected: value === chosen}, text)));
	select.addEventListener("change", changed);
	tools.append(make("label", {}, label, select));
	return select;
}

function drawAll() {
	theme();
	charts.forEach((draw) => draw());
	document.body.dataset.drawn = charts.length;
}
dark.addEventListener("change", drawAll);
// Paper is white, whatever the screen is.
addEventListener("beforeprint", () => {
	printing = true;
	drawAll();
});
addEventListener("afterprint", () => {
	printing = false;
	drawAll();
});
