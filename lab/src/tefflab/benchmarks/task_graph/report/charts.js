"use strict";
// Draws the curves of each section as wide as the page allows. It names some curves by a flag, draws the others in
// grey, and shows a point's numbers. Places come as shares of the axes (0 to 1) and texts ready to read; the page
// computes only pixels.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const NEAR = 30; // pixels from the pointer within which a point answers
  const ROW = 17; // pixels from one flag to the next above it
  const MARK = 12; // pixels of the mark before a flag's text
  const ruler = document.createElement("canvas").getContext("2d");

  const svg = (name, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const textWidth = (text) => {
    ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return ruler.measureText(text).width;
  };
  const ink = (look) => `--day:${look.day};--night:${look.night}`;

  const figureOf = (line) => (line.figure ? ` ${line.figure}` : "");

  // A flag's text begins at its pole; a flag that reaches over the poles right of it flies above their flags.
  function flags(chart, told, left, width) {
    const found = chart.lines.filter((line) => told.has(line.id) && line.anchor);
    const wide = new Map(found.map((line) => [line, MARK + textWidth(line.id + figureOf(line))]));
    const room = found.filter((line) => line.anchor[0] > 0).map((line) => left + (width - wide.get(line) - left) / line.anchor[0]);
    const right = Math.max(Math.min(width - 14, ...room), left + 60);
    const placed = [];
    for (const line of [...found].sort((a, b) => b.anchor[0] - a.anchor[0])) {
      const x = left + line.anchor[0] * (right - left);
      const under = placed.filter((other) => other.x < x + wide.get(line) + 8).map((other) => other.row);
      placed.push({ line, x, row: Math.max(-1, ...under) + 1 });
    }
    return { right, placed, rows: Math.max(-1, ...placed.map((each) => each.row)) + 1 };
  }

  function frame(chart, width, told) {
    const narrow = width < 520;
    const ticks = narrow ? "narrow" : "wide";
    const left = Math.ceil(Math.max(...chart.y[ticks].map(([, label]) => textWidth(label)))) + 10;
    const ruleWidth = chart.rule ? textWidth(`╌ ${chart.rule.text}`) * 1.15 + 20 : 0; // it is bold
    const titles = textWidth(chart.y.title) + ruleWidth > width ? 2 : 1; // rows of text above all
    const { right, placed, rows } = flags(chart, told, left, width);
    const top = 14 + 16 * titles + ROW * rows;
    const height = top + Math.round(Math.min(Math.max(width * 0.55, 230), 340)) + 44;
    const box = { left, right, top, titles, flags: placed, bottom: height - 44, width, height, ticks };
    box.x = (share) => box.left + share * (box.right - box.left);
    box.y = (share) => box.bottom - share * (box.bottom - box.top);
    return box;
  }

  function axes(chart, box) {
    const group = svg("g", { "aria-hidden": "true" });
    for (const share of chart.x.minor) group.append(svg("line", { class: "minor", x1: box.x(share), x2: box.x(share), y1: box.top, y2: box.bottom }));
    for (const share of chart.y.minor) group.append(svg("line", { class: "minor", x1: box.left, x2: box.right, y1: box.y(share), y2: box.y(share) }));
    for (const [share, label] of chart.x[box.ticks]) {
      const half = textWidth(label) / 2;
      const middle = Math.min(Math.max(box.x(share), half), box.width - half);
      group.append(svg("line", { class: "grid", x1: box.x(share), x2: box.x(share), y1: box.top, y2: box.bottom }));
      group.append(svg("text", { x: middle, y: box.bottom + 17, "text-anchor": "middle" }, label));
    }
    for (const [share, label] of chart.y[box.ticks]) {
      group.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: box.y(share), y2: box.y(share) }));
      group.append(svg("text", { x: box.left - 7, y: box.y(share) + 4, "text-anchor": "end" }, label));
    }
    group.append(svg("text", { x: (box.left + box.right) / 2, y: box.height - 6, "text-anchor": "middle" }, chart.x.title));
    group.append(svg("text", { x: 0, y: 11 }, chart.y.title));
    if (chart.rule) {
      const label = svg("text", { x: box.width, y: 11 + 16 * (box.titles - 1), "text-anchor": "end", class: "rule-text" }, `╌ ${chart.rule.text}`);
      group.append(svg("line", { class: "rule", x1: box.left, x2: box.right, y1: box.y(chart.rule.at), y2: box.y(chart.rule.at) }), label);
    }
    return group;
  }

  function curve(line, look, box) {
    const group = svg("g", { class: "curve series", "data-curve": line.id, style: ink(look) });
    const at = (x, y) => `${box.x(x).toFixed(1)} ${box.y(y).toFixed(1)}`;
    const path = (places) => `M${places.map(([x, y]) => at(x, y)).join("L")}`;
    const dash = (width) => look.dash.map((each) => each * width).join(" ");
    const stroke = (places, kind, width) => svg("path", { class: `stroke ${kind}`, d: path(places), "stroke-dasharray": dash(width) });
    if (line.band.length) group.append(svg("path", { class: "band", d: `${path(line.band)}z` }));
    for (const part of line.beyond) if (part.length) group.append(stroke(part, "beyond", 1.1));
    if (line.fitted.length) group.append(stroke(line.fitted, "fitted", 2.2));
    for (const [x, y] of line.points) group.append(svg("path", { class: "dot raw", d: look.outline, transform: `translate(${at(x, y)}) scale(.6)` }));
    if (line.metg) group.append(svg("path", { class: "dot", d: look.outline, transform: `translate(${at(...line.metg)}) scale(1.5)` }));
    return group;
  }

  function flag({ line, x, row }, look, box) {
    const y = box.top - 12 - ROW * row;
    const group = svg("g", { class: "flag series", "data-flag": line.id, style: ink(look) });
    group.append(svg("line", { class: "pole", x1: x, x2: x, y1: box.y(line.anchor[1]), y2: y }));
    group.append(svg("path", { class: "dot", d: look.outline, transform: `translate(${x + 5} ${y}) scale(.9)` }));
    const text = svg("text", { x: x + MARK, y: y + 4 }, svg("tspan", { class: "who" }, line.id), figureOf(line));
    group.append(text);
    return group;
  }

  function spots(chart, box, told) {
    const found = [];
    for (const line of chart.lines) {
      if (!told.has(line.id)) continue;
      line.points.forEach(([x, y], number) => found.push({ line, x: box.x(x), y: box.y(y), texts: line.texts[number] }));
      if (line.metg) found.push({ line, x: box.x(line.metg[0]), y: box.y(line.metg[1]), texts: line.metgText });
    }
    return found;
  }

  function showTip(plot, picture, box, spot) {
    plot.querySelector(".tip")?.remove();
    picture.querySelector(".ring")?.remove();
    if (!spot) return;
    picture.append(svg("circle", { class: "ring", cx: spot.x, cy: spot.y, r: 8 }));
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    const name = document.createElement("b");
    name.textContent = spot.line.name;
    tip.append(name, ...spot.texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
    plot.append(tip);
    const scale = plot.clientWidth / box.width;
    const x = Math.min(Math.max(spot.x * scale - tip.offsetWidth / 2, 0), plot.clientWidth - tip.offsetWidth);
    const above = spot.y * scale - tip.offsetHeight - 14;
    tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(above < -40 ? spot.y * scale + 14 : above)}px)`;
  }

  function draw(figure, chart, told) {
    const plot = figure.querySelector(".plot");
    const box = frame(chart, Math.max(plot.clientWidth, 240), told);
    const label = `${chart.title}, ${chart.lines.length} curves; all points are listed below`;
    const picture = svg("svg", { viewBox: `0 0 ${box.width} ${box.height}`, role: "img", "aria-label": label });
    const curves = chart.lines.map((line) => curve(line, data.looks[line.id], box));
    for (const group of curves) group.classList.toggle("grey", !told.has(group.dataset.curve));
    curves.sort((a, b) => b.classList.contains("grey") - a.classList.contains("grey")); // grey ones below the others
    const poles = box.flags.map((each) => flag(each, data.looks[each.line.id], box));
    picture.append(axes(chart, box), ...poles, ...curves);
    plot.replaceChildren(picture);
    const point = (event) => {
      const scale = box.width / plot.clientWidth;
      const edge = picture.getBoundingClientRect();
      const [x, y] = [(event.clientX - edge.left) * scale, (event.clientY - edge.top) * scale];
      const distance = (spot) => Math.hypot(spot.x - x, spot.y - y);
      const nearest = spots(chart, box, told).reduce((best, spot) => (!best || distance(spot) < distance(best) ? spot : best), null);
      showTip(plot, picture, box, nearest && distance(nearest) < NEAR ? nearest : null);
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("pointerleave", () => showTip(plot, picture, box, null));
  }

  for (const section of document.querySelectorAll(".case")) {
    const charts = data.sections[Number(section.dataset.section)];
    if (!charts.length) continue;
    const figures = [...section.querySelectorAll(".chart")];
    const buttons = [...section.querySelectorAll(".legend [data-curve]")];
    const [all, few] = [".all", ".few"].map((name) => section.querySelector(`.legend ${name}`));
    const usual = charts[0].told;
    const told = new Set(usual);
    const redraw = () => {
      for (const figure of figures) draw(figure, charts[Number(figure.dataset.chart)], told);
    };
    const update = () => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(told.has(button.dataset.curve)));
      all.hidden = told.size === buttons.length;
      few.hidden = told.size === usual.length && usual.every((name) => told.has(name));
    };
    const tell = (names) => {
      told.clear();
      for (const name of names) told.add(name);
      update();
      redraw();
    };
    const highlight = (name) => {
      for (const figure of figures) figure.classList.toggle("faint", name !== null);
      for (const group of section.querySelectorAll(".curve")) group.classList.toggle("near", group.dataset.curve === name);
    };
    for (const button of buttons) {
      const name = button.dataset.curve;
      button.addEventListener("click", () => tell(told.has(name) ? [...told].filter((each) => each !== name) : [...told, name]));
      button.addEventListener("dblclick", () => tell([name]));
      button.addEventListener("pointerenter", () => highlight(name));
      button.addEventListener("pointerleave", () => highlight(null));
    }
    all.addEventListener("click", () => tell(buttons.map((button) => button.dataset.curve)));
    few.addEventListener("click", () => tell(usual));
    update();
    for (const figure of figures) {
      let drawn = 0;
      new ResizeObserver(() => {
        const width = figure.clientWidth;
        if (width === drawn) return;
        drawn = width;
        draw(figure, charts[Number(figure.dataset.chart)], told);
      }).observe(figure);
    }
  }
})();
