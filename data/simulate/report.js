"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = data.summary;
  const limits = { time: data.run.deadline_s || 0, cost: data.run.budget_usd || 0 };

  // Numbers in words.
  function duration(s) {
    if (s === null) return "never";
    const a = Math.abs(s), sign = s < 0 ? "-" : "";
    if (a >= 23.95 * 3600) return sign + (a / 86400).toFixed(1) + " d";
    if (a >= 3570) return sign + (a / 3600).toFixed(1) + " h";
    if (a >= 59.95) return sign + (a / 60).toFixed(a < 597 ? 1 : 0) + " min";
    return sign + a.toFixed(a === 0 ? 0 : a < 9.995 ? 2 : 1) + " s";
  }
  /// For an axis: one unit for all its ticks.
  function clock(most) {
    const unit = most >= 2 * 86400 ? [86400, " d"] : most >= 2 * 3600 ? [3600, " h"] : [60, " min"];
    const words = function (s) { return +(s / unit[0]).toFixed(3) + unit[1]; };
    words.unit = unit[0];
    return words;
  }
  /// At most seven round values of the unit.
  function roundTicks(unit) {
    return function (scale) {
      const least = (scale.max - scale.min) / unit / 7;
      const power = Math.pow(10, Math.floor(Math.log10(least)));
      const step = unit * power * [1, 2, 5, 10].find(function (f) { return f * power >= least; });
      scale.ticks = [];
      for (let i = Math.ceil(scale.min / step); i * step <= scale.max; ++i) scale.ticks.push({ value: i * step });
    };
  }
  function dollars(v) {
    const a = Math.abs(v);
    return (v < 0 ? "-$" : "$") + a.toLocaleString("en-US", { maximumFractionDigits: a < 100 ? 2 : 0 });
  }
  function share(v) {
    if (v > 0 && v < 0.001) return "< 0.1 %";
    if (v < 1 && v > 0.999) return "> 99.9 %";
    return (100 * v).toFixed(Math.abs(100 * v - Math.round(100 * v)) < 0.05 ? 0 : 1) + " %";
  }
  function signed(words, v) { return (v > 0 ? "+" : "") + words(v); }

  // The page. All text goes in as text, never as markup.
  function byId(id) { return document.getElementById(id); }
  function add(parent, tag, text, name) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    parent.appendChild(e);
    return e;
  }
  function card(value, text) {
    const c = add(byId("cards"), "div", undefined, "card");
    add(c, "b", value);
    add(c, "span", text);
  }
  function table(id, titles, rows) {
    const section = byId(id);
    if (rows.length === 0) { section.hidden = true; return; }
    const t = add(section, "table");
    const head = add(add(t, "thead"), "tr");
    const isText = rows.every(function (row) { return row.text; });
    titles.forEach(function (title) { add(head, "th", title, isText ? "text" : ""); });
    const body = add(t, "tbody");
    rows.forEach(function (row) {
      const tr = add(body, "tr", undefined, row.own ? "own" : "");
      row.cells.forEach(function (cell) {
        const td = add(tr, "td", cell);
        if (row.span && row.cells.length === 2 && td !== tr.firstChild) td.colSpan = titles.length - 1;
        if (row.text) td.className = "text";
      });
    });
  }
  function limitCells(s) {
    return [limits.time ? share(s.on_time.share) : "-", limits.cost ? share(s.in_budget.share) : "-"];
  }

  document.title = data.run.name + ": trainyard simulate";
  byId("cluster").textContent = data.run.name + " · policy " + main.policy + " · " +
    main.runs.toLocaleString("en-US") + " runs" + (data.partial ? " (partial)" : "");
  byId("verdict").textContent = data.verdict;
  byId("verdict").className = data.certainty;
  byId("job").textContent = data.job;
  data.advice.forEach(function (line) { add(byId("advice"), "li", line); });
  if (data.next) {
    const li = add(byId("advice"), "li", "Next: ");
    add(li, "code", data.next);
  }
  card(duration(main.time_s.p50), "time, median");
  card(duration(main.time_s.p90), "nine runs in ten end within");
  card(dollars(main.cost_usd.p50), "cost, median");
  card(dollars(main.cost_usd.p90), "nine runs in ten cost at most");
  if (limits.time) card(share(main.on_time.share), "on time (" + duration(limits.time) + ")");
  if (limits.cost) card(share(main.in_budget.share), "in budget (" + dollars(limits.cost) + ")");
  card(share(main.goodput), "of the time is useful work");
  card(main.mean_interruptions.toFixed(1), "interruptions per run");

  table("policies",
    ["policy", "time P50", "P90", "cost P50", "P90", "on time", "in budget", "goodput", "on demand", "stops"],
    data.policies.map(function (s) {
      return { own: s.policy === main.policy, cells: [s.policy, duration(s.time_s.p50), duration(s.time_s.p90),
        dollars(s.cost_usd.p50), dollars(s.cost_usd.p90)].concat(limitCells(s), [share(s.goodput),
        share(s.on_demand_share), s.mean_interruptions.toFixed(1)]) };
    }));
  table("cadences", ["cadence", "every", "time P50", "mean cost", "done twice", "saving", "goodput"],
    data.cadences.map(function (row) {
      if (!row.summary) return { span: true, text: true, cells: [row.cadence, row.refused] };
      const s = row.summary;
      return { own: row.cadence === data.run.cadence, cells: [row.cadence, duration(s.checkpoint_interval_s),
        duration(s.time_s.p50), dollars(s.cost_usd.mean), share(s.mean_time_s.lost / s.mean_time_s.wall),
        share(s.mean_time_s.checkpoint / s.mean_time_s.wall), share(s.goodput)] };
    }));
  function variants(id, list) {
    table(id, ["if", "mean cost", "mean time", "on time", "in budget"], list.map(function (v) {
      const noise = 2 * Math.hypot(v.summary.cost_standard_error_usd, main.cost_standard_error_usd);
      const small = Math.abs(v.cost_difference_usd) <= Math.max(noise, 0.5);
      return { cells: [v.change,
        small ? "0 ± " + dollars(Math.max(noise, 0.5)) : signed(dollars, v.cost_difference_usd),
        Math.abs(v.time_difference_s) < 1e-3 * main.time_s.mean ? "0" : signed(duration, v.time_difference_s)]
        .concat(limitCells(v.summary)) };
    }));
  }
  variants("rules", data.rules);
  variants("what-ifs", data.what_ifs);
  table("assumptions", ["assumption", "source", "date", "status"], data.assumptions.map(function (a) {
    return { text: true, cells: [a.text, a.source, a.as_of, a.status.replace(/_/g, "-")] };
  }));
  byId("provenance").textContent = data.generator + ", " + data.date + ", schema " + data.schema + " " +
    data.schema_version + ", seed " + data.seed + ", unseed " + data.unseed;

  // Charts.
  function colours() {
    const style = getComputedStyle(document.documentElement);
    const c = {};
    ["paper", "panel", "ink", "soft", "line", "blue", "orange", "green", "red", "grey", "violet", "teal"]
      .forEach(function (name) { c[name] = style.getPropertyValue("--" + name).trim(); });
    return c;
  }
  let c = colours();
  const charts = [];

  function axis(title, words, more) {
    return Object.assign({
      title: { display: true, text: title, color: c.soft },
      grid: { color: c.line, borderColor: c.line },
      afterBuildTicks: words && words.unit ? roundTicks(words.unit) : undefined,
      ticks: { color: c.soft, maxTicksLimit: 8, callback: function (v) { return words ? words(v) : v; } }
    }, more);
  }
  function line(chart, axisId, value, text, colour) {
    const scale = chart.scales[axisId];
    if (!value || value < scale.min || value > scale.max) return;
    const g = chart.ctx, area = chart.chartArea;
    g.save();
    g.strokeStyle = g.fillStyle = colour;
    g.setLineDash([5, 4]);
    g.beginPath();
    const at = scale.getPixelForValue(value);
    if (scale.isHorizontal()) { g.moveTo(at, area.top); g.lineTo(at, area.bottom); } else { g.moveTo(area.left, at); g.lineTo(area.right, at); }
    g.stroke();
    g.font = "12px system-ui, sans-serif";
    if (scale.isHorizontal()) {
      const left = at > area.right - 90;
      g.textAlign = left ? "right" : "left";
      g.fillText(text, at + (left ? -5 : 5), area.top + 12);
    } else { g.textAlign = "right"; g.fillText(text, area.right - 4, at < area.top + 16 ? at + 14 : at - 5); }
    g.restore();
  }
  function draw(id, config) {
    const canvas = document.querySelector("#" + id + " canvas");
    config.options = Object.assign({ responsive: true, maintainAspectRatio: false, animation: false }, config.options);
    config.options.plugins = Object.assign({ legend: { display: false } }, config.options.plugins);
    charts.push(new Chart(canvas, config));
  }
  function legend() { return { display: true, labels: { color: c.ink, boxWidth: 14 } }; }

  function paretoChart() {
    const all = data.policies.length ? data.policies : [main];
    const points = all.map(function (s) { return { x: s.time_s.p50, y: s.cost_usd.p50, s: s }; });
    const front = points.filter(function (p) {
      return !points.some(function (q) { return q !== p && q.x <= p.x && q.y <= p.y && (q.x < p.x || q.y < p.y); });
    }).sort(function (a, b) { return a.x - b.x; });
    const spread = { id: "spread", beforeDatasetsDraw: function (chart) {
      const g = chart.ctx, x = chart.scales.x, y = chart.scales.y;
      g.save(); g.strokeStyle = c.grey; g.lineWidth = 1;
      all.forEach(function (s) {
        const px = x.getPixelForValue(s.time_s.p50), py = y.getPixelForValue(s.cost_usd.p50);
        g.beginPath();
        g.moveTo(x.getPixelForValue(s.time_s.p10), py); g.lineTo(x.getPixelForValue(s.time_s.p90), py);
        g.moveTo(px, y.getPixelForValue(s.cost_usd.p10)); g.lineTo(px, y.getPixelForValue(s.cost_usd.p90));
        g.stroke();
      });
      g.restore();
    }, afterDatasetsDraw: function (chart) {
      const g = chart.ctx;
      g.save(); g.font = "12px system-ui, sans-serif";
      // Points on the same spot share a label; labels that would overlap are stacked.
      const taken = [];
      const groups = [];
      points.forEach(function (p) {
        const px = chart.scales.x.getPixelForValue(p.x), py = chart.scales.y.getPixelForValue(p.y);
        const group = groups.find(function (q) { return Math.abs(q.px - px) < 12 && Math.abs(q.py - py) < 12; });
        if (group) group.points.push(p); else groups.push({ px: px, py: py, points: [p] });
      });
      groups.forEach(function (q) {
        const right = q.px < chart.chartArea.left + 0.6 * chart.chartArea.width;
        const own = q.points.some(function (p) { return p.s.policy === main.policy; });
        const names = q.points.map(function (p) { return p.s.policy; });
        const text = names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "");
        const width = g.measureText(text).width;
        const left = right ? q.px + 9 : q.px - 9 - width;
        let y = q.py - 9;
        while (taken.some(function (t) { return Math.abs(t.y - y) < 14 && t.left < left + width + 6 && left < t.left + t.width + 6; })) y -= 14;
        taken.push({ y: y, left: left, width: width });
        g.textAlign = "left";
        g.fillStyle = own ? c.orange : c.ink;
        g.fillText(text, left, y);
      });
      g.restore();
      line(chart, "x", limits.time, "deadline", c.red);
      line(chart, "y", limits.cost, "budget", c.red);
    } };
    const sure = function (p) { return p.s.certainty === "sure"; };
    const colour = function (p) { return p.s.policy === main.policy ? c.orange : c.blue; };
    const lows = all.map(function (s) { return s.time_s.p10; }), highs = all.map(function (s) { return s.time_s.p90; });
    const cheap = all.map(function (s) { return s.cost_usd.p10; }), dear = all.map(function (s) { return s.cost_usd.p90; });
    const room = function (low, high) {
      const a = Math.min.apply(null, low), b = Math.max.apply(null, high), m = 0.08 * (b - a || b || 1);
      return { suggestedMin: Math.max(0, a - m), suggestedMax: b + m };
    };
    draw("pareto", { type: "scatter", plugins: [spread], data: { datasets: [
      { data: points, pointRadius: 6, pointHoverRadius: 8, borderWidth: 2,
        pointBackgroundColor: points.map(function (p) { return sure(p) ? colour(p) : c.panel; }),
        pointBorderColor: points.map(colour) },
      { data: front, type: "line", showLine: true, pointRadius: 0, pointHitRadius: 0, borderColor: c.grey,
        borderDash: [6, 4], borderWidth: 1.5 }] },
      options: { scales: { x: axis("time, median", clock(Math.max.apply(null, highs)), room(lows, highs)), y: axis("cost, median", dollars, room(cheap, dear)) },
        plugins: { tooltip: { callbacks: { label: function (item) {
          const s = item.raw.s;
          return s.policy + ": " + duration(s.time_s.p50) + " (P90 " + duration(s.time_s.p90) + "), " +
            dollars(s.cost_usd.p50) + " (P90 " + dollars(s.cost_usd.p90) + ")";
        } } } } } });
  }

  // Fine bins as bars of one width, from the first run in a thousand to the last in a hundred.
  function coarse(bins, rows) {
    const total = bins.reduce(function (n, b) { return n + b.runs; }, 0);
    let seen = 0, low = bins[0].from, high = bins[bins.length - 1].to, found = false;
    bins.forEach(function (b) {
      if (!found && seen + b.runs >= 0.001 * total) { low = b.from; found = true; }
      if (seen < 0.99 * total) high = b.to;
      seen += b.runs;
    });
    const step = (high - low) / rows || high || 1;
    // Runs of a fine bin are spread over the bars that it touches; what lies beyond goes to the last.
    const below = function (x) {
      let n = 0;
      bins.forEach(function (b) { n += b.runs * Math.max(0, Math.min(1, (x - b.from) / (b.to - b.from || 1))); });
      return n;
    };
    const out = [];
    let before = 0;
    for (let i = 0; i < rows; ++i) {
      const n = i === rows - 1 ? total : below(low + (i + 1) * step);
      out.push({ x: low + (i + 0.5) * step, y: (n - before) / total });
      before = n;
    }
    return { points: out, low: low, high: low + rows * step };
  }
  function distribution(id, bins, words, q, limit, name) {
    if (bins.length === 0) { byId(id).hidden = true; return; }
    const h = coarse(bins, Math.min(40, Math.max(1, bins.length)));
    const marks = { id: "marks", afterDatasetsDraw: function (chart) {
      line(chart, "x", q.p50, "P50", c.ink);
      if (q.p90 > q.p50 * 1.0001) line(chart, "x", q.p90, "P90", c.orange);
      line(chart, "x", limit, name, c.red);
    } };
    draw(id, { type: "bar", plugins: [marks],
      data: { datasets: [{ data: h.points, backgroundColor: c.blue, barPercentage: 1, categoryPercentage: 1, borderWidth: 0 }] },
      options: { scales: {
        x: axis("", words, { type: "linear", offset: false, min: h.low, max: h.high, title: { display: false } }),
        y: axis("share of runs", share, { beginAtZero: true }) },
        plugins: { tooltip: { callbacks: {
          title: function (items) { return "about " + words(items[0].raw.x); },
          label: function (item) { return share(item.raw.y) + " of the runs"; } } } } } });
  }

  function goodputChart() {
    const names = { useful: "useful work", slower: "with fewer nodes", lost: "work done twice", checkpoint: "saves",
      restart: "restarts", reshard: "changing size", waiting: "waiting for capacity" };
    const paint = { useful: c.green, slower: c.teal, lost: c.red, checkpoint: c.violet, restart: c.orange,
      reshard: c.blue, waiting: c.grey };
    const rows = (data.policies.length ? data.policies : [main]).slice();
    const keys = Object.keys(names).filter(function (k) {
      return rows.some(function (s) { return s.mean_time_s[k] > 0.0005 * s.mean_time_s.wall; });
    });
    draw("goodput", { type: "bar", data: {
      labels: rows.map(function (s) { return (s.policy === main.policy ? "> " : "") + s.policy; }),
      datasets: keys.map(function (k) {
        return { label: names[k], backgroundColor: paint[k],
          data: rows.map(function (s) { return s.mean_time_s[k] / s.mean_time_s.wall; }) };
      }) },
      options: { indexAxis: "y", scales: {
        x: axis("", share, { stacked: true, min: 0, max: 1, title: { display: false } }),
        y: { stacked: true, grid: { display: false }, ticks: { color: c.ink } } },
        plugins: { legend: legend(), tooltip: { callbacks: { label: function (item) {
          return item.dataset.label + ": " + share(item.raw);
        } } } } } });
  }

  function curveChart() {
    if (data.cadence_curve.length < 2) { byId("curve").hidden = true; return; }
    const points = function (key) {
      return data.cadence_curve.map(function (p) { return { x: p.interval_s, y: p[key] }; });
    };
    const lowest = Math.min.apply(null, data.cadence_curve.map(function (p) { return p.goodput; }));
    const marks = { id: "marks", afterDatasetsDraw: function (chart) {
      line(chart, "x", main.checkpoint_interval_s, data.run.cadence, c.orange);
    } };
    draw("curve", { type: "line", plugins: [marks], data: { datasets: [
      { label: "mean cost", yAxisID: "y", data: points("mean_cost_usd"), borderColor: c.blue, backgroundColor: c.blue, pointRadius: 3, tension: 0.2 },
      { label: "goodput", yAxisID: "g", data: points("goodput"), borderColor: c.green, backgroundColor: c.green, pointRadius: 3, tension: 0.2 }] },
      options: { scales: { x: axis("time between saves", duration, { type: "logarithmic",
        afterBuildTicks: function (scale) {
          scale.ticks = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 345600, 864000]
            .filter(function (v) { return v >= scale.min && v <= scale.max; }).map(function (v) { return { value: v }; });
        }, min: data.cadence_curve[0].interval_s, max: data.cadence_curve[data.cadence_curve.length - 1].interval_s }),
        y: axis("mean cost", dollars), g: axis("goodput", share, { axis: "y", position: "right", grid: { display: false }, suggestedMin: Math.max(0, lowest - 0.02), max: 1 }) },
        plugins: { legend: legend(), tooltip: { callbacks: {
          title: function (items) { return "every " + duration(items[0].raw.x); },
          label: function (item) { return item.dataset.label + ": " + (item.dataset.yAxisID === "g" ? share : dollars)(item.raw.y); } } } } } });
  }

  function timelineChart() {
    const run = data.sampled_run;
    if (!run || run.events.length < 2) { byId("timeline").hidden = true; return; }
    byId("timeline-note").textContent = "Run " + run.run + " of seed " + data.seed + ", near the median: " +
      duration(run.time_s.wall) + ", " + dollars(run.cost_usd.total) + ", " + run.interruptions + " interruptions.";
    const total = data.run.work_s;
    const nodes = run.events.map(function (e) { return { x: e.at_s, y: e.nodes, e: e }; });
    const done = run.events.map(function (e) { return { x: e.at_s, y: e.done_s / total, e: e }; });
    draw("timeline", { type: "line", data: { datasets: [
      { label: "nodes", yAxisID: "n", data: nodes, stepped: true, borderColor: c.blue, backgroundColor: c.blue + "30",
        fill: "origin", pointRadius: 0, pointHitRadius: 6, borderWidth: 1.5 },
      { label: "safe work", yAxisID: "w", data: done, borderColor: c.green, backgroundColor: c.green, pointRadius: 0,
        pointHitRadius: 6, borderWidth: 2 }] },
      options: { interaction: { mode: "nearest", intersect: false }, scales: {
        x: axis("time since submission", clock(run.time_s.wall), { type: "linear", min: 0, max: run.time_s.wall }),
        n: axis("nodes", null, { axis: "y", beginAtZero: true, suggestedMax: data.run.nodes, ticks: { color: c.soft, precision: 0 } }),
        w: axis("safe work", share, { axis: "y", position: "right", min: 0, max: 1, grid: { display: false } }) },
        plugins: { legend: legend(), tooltip: { callbacks: {
          title: function (items) { return duration(items[0].raw.x) + ": " + items[0].raw.e.what; },
          label: function (item) {
            const e = item.raw.e;
            return e.nodes + " nodes, " + share(e.done_s / total) + " safe, " + dollars(e.spent_usd) + " spent";
          } } } } } });
  }

  function drawAll() {
    while (charts.length) charts.pop().destroy();
    c = colours();
    paretoChart();
    distribution("time", data.time_histogram_s, clock(main.time_s.p90), main.time_s, limits.time, "deadline");
    distribution("cost", data.cost_histogram_usd, dollars, main.cost_usd, limits.cost, "budget");
    goodputChart();
    curveChart();
    timelineChart();
  }
  drawAll();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is white, whatever the screen is.
  const printing = window.matchMedia("print");
  printing.addEventListener("change", drawAll);
})();
