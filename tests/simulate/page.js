// Runs the scripts of a report on a stand-in for the browser and prints what its charts and its text are made of:
// {"charts": {"pareto": {datasets}, …}, "texts": […]}.
"use strict";
const fs = require("fs");
const vm = require("vm");

const page = fs.readFileSync(process.argv[2], "utf8");
const scripts = page.split("<script").slice(1).map((s) => s.slice(s.indexOf(">") + 1, s.indexOf("</script>")));
const [, data, report] = scripts;
const texts = [];
const charts = {};

function element(id) {
  return {
    id,
    style: {},
    children: [],
    set textContent(text) { texts.push(text); },
    get textContent() { return id === "data" ? data : ""; },
    get firstChild() { return this.children[0]; },
    appendChild(child) { this.children.push(child); return child; },
  };
}
const known = {};
function byId(id) {
  if (!page.includes(`id="${id}"`)) throw new Error(`the page has no element ${id}`);
  return (known[id] = known[id] || element(id));
}
const document = {
  documentElement: element("html"),
  getElementById: byId,
  createElement: (tag) => element(tag),
  querySelector: (selector) => ({ id: byId(/^#([\w-]+) canvas$/.exec(selector)[1]).id }),
};
class Chart {
  constructor(canvas, config) { charts[canvas.id] = config.data; }
  destroy() {}
}
const quiet = { addEventListener() {} };
vm.runInNewContext(report, {
  document, Chart, JSON, Math, Object,
  getComputedStyle: () => ({ getPropertyValue: () => "#000000" }),
  window: { matchMedia: () => quiet },
});
process.stdout.write(JSON.stringify({ charts, texts }));
